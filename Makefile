# Every target sets up what it needs: `make demo` and `make test` work on a fresh machine with Python 3.11 and make.
#
# An activated virtual environment is used as it is; otherwise .venv is made. PYTHON names the interpreter to make it with.

PYTHON ?= python3
ifdef VIRTUAL_ENV
VENV := $(VIRTUAL_ENV)
else
VENV := $(CURDIR)/.venv
endif
PY := $(VENV)/bin/python
PROGRAM := $(VENV)/.perdure-program
STAMP := $(VENV)/.perdure-installed

# The code of this checkout wins, even when the environment was installed from another one.
export PYTHONPATH := $(CURDIR)/lib
export PIP_DISABLE_PIP_VERSION_CHECK := 1

CODE := $(wildcard lib functions infra localstack tests examples)
WORKERS ?= 3
PYTEST_ARGS ?=
# The port of the local AWS, and what to deploy there: AWS_ARGS='-c fast_path=off -c log_level=DEBUG'.
AWS_PORT ?= 4566
AWS_ARGS ?=

# A half-made environment must not look like a made one the next time.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help venv demo test lint format bench aws-up aws-down test-aws clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

venv: $(STAMP) ## Install everything a developer needs, once

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Perdure needs Python 3.11 or newer; name one with PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv "$(VENV)"

# The demo waits for the program alone; the tools are ten times as large.
$(PROGRAM): pyproject.toml | $(PY)
	@echo "Installing Perdure into $(VENV) (once; less than a minute)"
	@"$(PY)" -m pip install --quiet --editable .
	@touch "$@"

$(STAMP): pyproject.toml | $(PY)
	@echo "Installing Perdure and its tools, about 1 GB, into $(VENV) (once; some minutes)"
	@"$(PY)" -m pip install --quiet --editable '.[dev]'
	@touch "$(PROGRAM)" "$@"

demo: $(PROGRAM) ## Run an order workflow, kill the server in the middle, and watch the workflow finish
	@"$(PY)" -m perdure demo

test: lint ## Check and test everything that needs no Docker and no cloud account
	"$(PY)" -m pytest -n $(WORKERS) $(PYTEST_ARGS)

lint: venv ## Run the linters and the type checker
	"$(PY)" -m ruff check $(CODE)
	"$(PY)" -m ruff format --check $(CODE)
	"$(PY)" -m mypy
	"$(VENV)/bin/lint-imports" --no-logo

format: venv ## Format the code and mend what can be mended without thought
	"$(PY)" -m ruff check --fix $(CODE)
	"$(PY)" -m ruff format $(CODE)

bench: venv ## Measure the embedded server beside the Temporal development server
	@"$(PY)" -m tests.benchmarks

aws-up: venv ## Start a local AWS, deploy to it with the real cdk command, and print the address
	@"$(PY)" -m localstack up --port $(AWS_PORT) $(AWS_ARGS)

aws-down: venv ## Remove what aws-up made
	@"$(PY)" -m localstack down --port $(AWS_PORT) $(AWS_ARGS)

test-aws: venv ## Test what runs on AWS, on a local one; a part of `make test`
	"$(PY)" -m pytest -n $(WORKERS) tests/infra tests/aws $(PYTEST_ARGS)

clean: ## Remove what the tools left behind, and .venv
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
