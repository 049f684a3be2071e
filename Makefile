# `make demo` and `make test` need only Python 3.11 or later and make; all else goes into $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

BENCH_INSTALLED := $(VENV)/.bench-installed

.PHONY: help demo test lint bench clean

help:
	@echo "make demo   run the example (the first run makes $(VENV))"
	@echo "make test   run everything: lint, tests, doctests"
	@echo "make lint   ruff and mypy only"
	@echo "make bench  measure, and write docs/benchmarks.md; QUICK=1 prints it, for few rows; FULL=1 adds 10^8 rows"
	@echo "make clean  remove $(VENV), caches and builds"

# Made once, and again when pyproject.toml changes.
$(INSTALLED): pyproject.toml
	@echo "Installing into $(VENV): about a minute, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(INSTALLED)
	$(BIN)/python examples/digits_report.py

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest

$(BENCH_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@

bench: $(BENCH_INSTALLED)
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick) $(if $(FULL),--full)

clean:
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
