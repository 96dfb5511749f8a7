# make demo   sets up an environment and sweeps the sample app through all its crash windows
# make test   sets up an environment and runs the tests
# make lint   ruff and mypy
# make bench  what things cost, side by side
#
# Needs Python 3.11 or later and access to a package index; everything else is set up in .venv/.

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,$(shell \
	$(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready-$(shell cksum pyproject.toml | cut -d' ' -f1)
ARGS ?=

.PHONY: demo test lint bench build clean environment

demo: $(READY)
	@echo "== The sample app tells its two stories, read back from its databases =="
	$(BIN)/python -m sample_app demo
	@echo
	@echo "== The sample app is swept: every window with a real process dying, pausing or losing an answer =="
	@mkdir -p reports
	$(BIN)/python -m pytest tests/sample_app/test_sweep_*.py -n auto -p no:randomly \
		--crashwindow-report=reports/sample-app.html --crashwindow-report=reports/sample-app.md $(ARGS)
	@echo "The report: reports/sample-app.html"

test: $(READY)
	@echo "== The tests of the plugin and of the sample app =="
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(READY)
	@echo "== Lint, format and types =="
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	@echo "== What things cost, measured side by side =="
	$(BIN)/python -m benchmarks $(ARGS)

build: $(READY)
	@echo "== Wheel and source distribution into dist/ =="
	rm -rf dist
	$(BIN)/python -m build

environment: $(READY)

clean:
	rm -rf $(VENV) build dist reports

$(READY):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed and was not found on the PATH." >&2; \
		echo "Install it, or say which: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "== Setting up $(VENV) with $$($(PYTHON) --version) =="
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv module;" \
		"on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group test --group lint
	@touch $@
