# Each target is the command of that name in dev.py, which works without make, too.
PYTHON ?= python3
export VENV ?= .venv

COMMANDS := demo check test peers coverage lint workflows generate docs package clean
.PHONY: help fuzz bench fast $(COMMANDS)

help:
	@$(PYTHON) dev.py --help

$(COMMANDS):
	@$(PYTHON) dev.py $@

fuzz:
	@$(PYTHON) dev.py fuzz $(if $(CASES),--cases $(CASES)) $(if $(SEED),--seed $(SEED))

bench:
	@$(PYTHON) dev.py bench

fast:
	@$(PYTHON) dev.py fast $(VERSIONS)
