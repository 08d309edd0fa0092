# Everything a newcomer needs: `make run` shows Recollect at work, `make test` checks it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CODE := src tests bench livehosts scripts
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit("Recollect needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'

.PHONY: run team test check docs dist lint types layers tests browser bench hosts matrix format clean

run: $(STAMP)
	@$(BIN)/python -m recollect demo

# A PostgreSQL, a team server, and two people with their agents: what they see of each other.
team: $(STAMP)
	@$(BIN)/python scripts/team_story.py

# Types and layers are checked beside the tests: each takes one core only.
test: lint browser
	@$(MAKE) --no-print-directory -j 3 types layers tests

# The inner loop, in less than a minute: lint, types, quick tests and those near what you changed.
check: $(STAMP)
	@$(BIN)/python scripts/check.py

# The documentation as pages in site/, without requests to other hosts. A broken link is an error.
docs: $(STAMP)
	$(BIN)/python -c 'import mkdocs' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Wheel and sdist in dist/, checked as PyPI does.
dist: $(STAMP)
	$(BIN)/python -c 'import build, twine' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

lint: $(STAMP)
	$(BIN)/python -m ruff check $(CODE)
	$(BIN)/python -m ruff format --check $(CODE)

types: $(STAMP)
	$(BIN)/python -m mypy

layers: $(STAMP)
	$(BIN)/python -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-cache

# One test process more than cores (tests/conftest.py), up to eight. Each begins with a part of its own, so that tests of a file share what it prepares.
tests: $(STAMP) browser
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

# Chromium for the tests of `recollect web`: installs Debian's if you are root and none is there.
browser: $(STAMP)
	@$(BIN)/python scripts/browser.py

bench: $(STAMP)
	$(BIN)/python -m bench $(BENCH)

# The real CLIs of the hosts, which it installs from npm, against a scripted model. Takes about six minutes per host.
# HOSTS and CHECKS select; ARGS are for the program: --full, --jobs, --keep, --record.
hosts: $(STAMP)
	$(BIN)/python -m livehosts $(if $(HOSTS),--hosts $(HOSTS)) $(if $(CHECKS),--checks $(CHECKS)) $(ARGS)

# The suite with every Python here, as root and as an ordinary user, in private folders and folders with spaces.
# Takes about ten minutes per row.
matrix:
	@$(CHECK_PYTHON)
	$(PYTHON) scripts/matrix.py $(MATRIX)

format: $(STAMP)
	$(BIN)/python -m ruff check --fix $(CODE)
	$(BIN)/python -m ruff format $(CODE)

$(STAMP): pyproject.toml
	@$(CHECK_PYTHON)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .matrix bench/out livehosts/out
