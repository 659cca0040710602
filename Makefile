# `make run` shows the main job on demo data; `make test` runs every check. `make help` lists the rest.

# The first Python that is new enough; PYTHON=... chooses another.
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell $(p) -c 'import sys; sys.version_info >= (3, 11) and print("$(p)")' 2>/dev/null)))
VENV ?= .venv
BIN := $(VENV)/bin
UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv
INSTALL := $(UV) pip install --quiet --require-hashes --only-binary :all: --compile-bytecode
LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --no-annotate $(LOCK_OPTIONS)

.DEFAULT_GOAL := help
.PHONY: help run test test-long test-airflow bench lint docs site dist extras lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.ready ## make the demo project, plan and post its month, and show who owes what
	@$(BIN)/apportion demo demo
	@echo "apportion is at $(BIN)/apportion; the pages: $(BIN)/apportion --project demo serve" >&2

test: $(VENV)/.ready-dev ## every check: lint, types, contracts, docs and tests
	@$(BIN)/python tests/servers.py
	@$(BIN)/python tests/run.py

test-long: $(VENV)/.ready-dev ## the same with the long searches and sweeps
	@$(BIN)/python tests/servers.py
	@$(BIN)/python -m tests.airflow.environment
	@$(BIN)/python tests/run.py --long

test-airflow: $(VENV)/.ready-dev ## the provider in a real Airflow, of its own lock
	@$(BIN)/python -m tests.airflow.environment
	@$(BIN)/python tests/run.py --long airflow

bench: $(VENV)/.ready-dev ## speed and memory, as ratios in one run
	@$(BIN)/python -m bench

lint: $(VENV)/.ready-dev ## format, then lint, types and import contracts
	@$(BIN)/ruff format --quiet src tests bench docs
	@$(BIN)/python tests/run.py lint types contracts

docs: $(VENV)/.ready-dev ## bring the reference and the outputs that pages show up to date, and build the site
	@$(BIN)/python tests/docs.py
	@$(MAKE) --no-print-directory site

site: $(VENV)/.ready-dev ## the docs as a site, in site/: strictly, with every link checked
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist: $(VENV)/.ready-dev ## a release in dist/: wheel, sdist, list of parts, licences, digests
	@$(BIN)/python -m tests.release.dist

extras: $(VENV)/.ready-dev ## measure what each extra adds to an install
	@$(BIN)/python -m tests.release.extras

lock: $(VENV)/.uv ## resolve the requirements*.lock files anew (LOCK_OPTIONS=--upgrade takes newer versions)
	@$(LOCK) --group uv -o requirements-uv.lock
	@$(LOCK) --group build --group bounds --extra web --extra metrics pyproject.toml -o requirements.lock
	@$(LOCK) --group build --group bounds --group dev --group docs --extra postgres --extra spark --extra kubernetes --extra datadog --extra agent --extra keyring --extra aws --extra google --extra pdf --extra web --extra metrics --extra otel --extra excel --extra tableau --extra mcp -c requirements.lock pyproject.toml -o requirements-dev.lock
	@$(LOCK) --group build -c requirements-dev.lock -o requirements-build.lock
	@$(LOCK) --group bounds --extra web --extra metrics --extra postgres --extra pdf --extra excel --extra otel --extra agent --extra kubernetes --extra aws -c requirements-dev.lock pyproject.toml -o requirements-server.lock
	@$(subst 3.11,3.12,$(LOCK)) tests/focus_validator/requirements.in -o tests/focus_validator/requirements.lock
	@$(LOCK) tests/airflow/requirements.in pyproject.toml -o tests/airflow/requirements.lock
	@$(LOCK) tests/checked/nise/requirements.in -o tests/checked/nise/requirements.lock
	@$(LOCK) --no-deps tests/checked/litellm/requirements.in -o tests/checked/litellm/requirements.lock

clean: ## remove what make made; the lock and your files stay
	rm -rf $(VENV) demo dist build site bench/out .servers .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.uv: requirements-uv.lock
	@test -n "$(PYTHON)" || { echo "Apportion needs Python 3.11 or newer. Install one, or name it: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Apportion needs Python 3.11 or newer; $(PYTHON) is not. Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments: its venv module is missing (on Debian and Ubuntu: apt-get install python3-venv)." >&2; exit 1; }
	@echo "Making the environment in $(VENV)" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-uv.lock
	@touch $@

$(VENV)/.ready: $(VENV)/.uv requirements.lock pyproject.toml
	@$(INSTALL) -r requirements.lock
	@$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready requirements-dev.lock
	@$(INSTALL) --no-binary pyspark --build-constraints requirements-dev.lock -r requirements-dev.lock
	@touch $@
