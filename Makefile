# `make demo`, `make test` and `make docs` need only Python 3.11 or later and make; all else goes into $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXAMPLES := $(VENV)/.examples
DEV := $(VENV)/.dev
BENCH := $(VENV)/.bench

.PHONY: help demo test lint docs package bench clean

help:
	@echo "make demo      run the example (the first run makes $(VENV))"
	@echo "make test      run everything: lint, tests, doctests"
	@echo "make lint      ruff and mypy only"
	@echo "make docs      build the pages into docs/_build"
	@echo "make package   build wheel and sdist into dist/, check them, try the wheel in empty environments"
	@echo "make bench     measure, and write docs/benchmarks.md; QUICK=1 prints it, for few rows; FULL=1 adds 10^8 rows"
	@echo "make clean     remove $(VENV), caches and builds"

# What the examples, the tests and the benchmarks need: each made once, and again when pyproject.toml changes.
$(EXAMPLES) $(DEV) $(BENCH): pyproject.toml
	@echo "Installing into $(VENV), once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(@:$(VENV)/.%=%)]"
	@touch $@

demo: $(EXAMPLES)
	$(BIN)/python examples/digits_report.py

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(DEV)
	$(BIN)/sphinx-build -q -E -W --keep-going docs docs/_build
	@echo "docs/_build/index.html"

test: lint
	$(BIN)/python -m pytest

package:
	PYTHON=$(PYTHON) .ci/package

bench: $(BENCH)
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick) $(if $(FULL),--full)

clean:
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist docs/_build docs/api
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
