# Works from a fresh clone with Python 3.11 or newer and pip; no GPU, no uv.
# PYTHON=/path/to/python3.12 names another interpreter, VENV=/path another place for the environment.

VENV ?= .venv
BIN := $(VENV)/bin
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python)
STAGES := tools synth train eval

.PHONY: help setup test lint type view demo bench clean

help:  ## say what can be made
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/make \1\t\2/' | expand -t 14

setup: $(VENV)/installed  ## make .venv and install the project into it, editable

$(VENV)/installed: pyproject.toml
	@found=; for each in $(PYTHONS); do \
	  if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$each; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "setup: no Python of 3.11 or newer among: $(PYTHONS); name one: make setup PYTHON=/path/to/python3" >&2; exit 2; fi; \
	if ! $$found -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	  echo "setup: $$found cannot make environments; on Debian and Ubuntu: apt install python3-venv (or name another: PYTHON=...)" >&2; exit 2; fi; \
	test -x $(BIN)/python || $$found -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[local,dev]"
	@touch $@

test: setup  ## run the tests (ARGS="tests/test_layout.py -k name" for some of them)
	HF_HUB_OFFLINE=1 $(BIN)/pytest -q -r s $(ARGS)

lint: setup  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy needs the five folders to lie as they are imported: a view of links, made anew, never committed.
view:
	@rm -rf build/view && mkdir -p build/view/openreward
	@for each in openreward/*; do [ "$${each##*/}" = __pycache__ ] || ln -s ../../../$$each build/view/$$each; done
	@for each in $(STAGES); do ln -s ../../../$$each build/view/openreward/$$each; done
	@ln -s ../../bench build/view/bench

type: setup view  ## mypy --strict
	cd build/view && $(abspath $(BIN))/mypy --config-file ../../pyproject.toml --cache-dir ../mypy openreward $(if $(wildcard bench/*.py),bench)

demo: setup  ## fetch the small model and a Wikipedia text, build its index, judge ten pairs
	$(BIN)/openreward model fetch
	$(BIN)/openreward index fetch wikipedia-introductions
	$(BIN)/openreward demo

bench: setup  ## measure the tool phase of the loop, and the index
	@set -e; for each in bench/bench_*.py; do echo "== $$each"; $(BIN)/python $$each; done

clean:  ## remove what was made here; the fetched model and indexes stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
