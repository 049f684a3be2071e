# `make demo`, `make test` and `make docs` need only Python 3.11 or later and make; all else goes into $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXAMPLES := $(VENV)/.examples
DEV := $(VENV)/.dev
BENCH := $(VENV)/.bench

# Tests start many processes, each of which would compile what it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check test fuzz lint docs package bench clean

help:
	@echo "make demo      run the example (the first run makes $(VENV))"
	@echo "make check     run lint, the fast tests and the doctests; what is marked slow is in make test only"
	@echo "make test      run everything: lint, tests, doctests; but for what needs the extra peers"
	@echo "make fuzz      10^5 random cases against an exact oracle; CASES=10^6, SEED=7, ENGINES='spark' for others"
	@echo "make lint      ruff, mypy and the order of the rooms only"
	@echo "make docs      build the pages into docs/_build"
	@echo "make package   build wheel and sdist into dist/, check them, try the wheel in empty environments"
	@echo "make bench     measure, and write docs/benchmarks.md; QUICK=1 prints it, for few rows; FULL=1 adds 10^8 and 10^9 rows"
	@echo "make clean     remove $(VENV), caches and builds"

# What the examples, the tests and the benchmarks need: each made once, and again when one of these files changes.
# Most of what is installed is never imported: compiling it all takes longer than the rest.
$(EXAMPLES) $(DEV) $(BENCH): pyproject.toml constraints.txt
	@echo "Installing into $(VENV), once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt \
		--editable ".[$(@:$(VENV)/.%=%)]"
	@touch $@

demo: $(EXAMPLES)
	$(BIN)/python examples/digits_report.py

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

docs: $(DEV)
	$(BIN)/python -W ignore::DeprecationWarning examples/gallery.py >/dev/null
	$(BIN)/sphinx-build -q -E -W --keep-going docs docs/_build
	@echo "docs/_build/index.html"

# Of two processes, each is a thread.
check: lint
	POLARS_MAX_THREADS=1 $(BIN)/python -m pytest -m "not slow" --numprocesses=2

# With loadgroup, the tests that share a JVM or a cluster run in one process.
test: lint
	$(BIN)/python -m pytest -m "not peers" --numprocesses=auto --dist=loadgroup

fuzz: $(DEV)
	PYTHONPATH=tests POLARS_MAX_THREADS=1 $(BIN)/python -m fuzz $(if $(CASES),--cases $(CASES)) $(if $(SEED),--seed $(SEED)) $(if $(ENGINES),--engines $(ENGINES))

package:
	PYTHON=$(PYTHON) .ci/package

bench: $(BENCH)
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick) $(if $(FULL),--full)

clean:
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist docs/_build docs/api
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
