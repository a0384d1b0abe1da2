# Headwater. `make` alone lists what there is.
# Everything lives in .venv of this folder; the only thing needed beforehand is Python 3.11 to 3.13 and make.

PYTHON ?= $(shell command -v python3 || command -v python)
ARGS ?=
# Tests wait for servers, slots and clocks: two more of them than cores keep the cores busy, and each imports them all.
WORKERS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 2)))
# Long tests work hard, with processes of their own.
LONG_WORKERS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
# The others are those of `make test-long` and `make test-slow`.
QUICK_TESTS := not slow and not long and not opensearch
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Workers and commands of tests compile the sources and rewrite the tests once, not each for itself; and in no folder of
# the sources, whatever is said of compiled files here.
test test-long test-slow faults soak unit coverage: export PYTHONDONTWRITEBYTECODE :=
test test-long test-slow faults soak unit coverage: export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/compiled
UV := $(BIN)/python -m uv
INSTALL := $(UV) pip install --quiet --python $(BIN)/python --no-deps --compile-bytecode

.DEFAULT_GOAL := help
.PHONY: help install check fix test test-long faults soak test-pg15 test-pg16 test-py312 test-py313 test-slow unit release site chromium redis cloud-init postgresql-15 opensearch elasticsearch coverage bench bench-urls bench-simweb bench-page bench-frontier bench-net \
        bench-feeds bench-cadence bench-extract bench-templates bench-path bench-neighbours bench-signing bench-search bench-search-engine bench-deliver bench-scale bench-serve bench-faults client demo docs screenshots schema lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(READY) ## set up .venv with everything pinned in requirements.lock

$(READY): requirements.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "Headwater needs Python 3.11, 3.12 or 3.13; '$(PYTHON)' is not. Say: make PYTHON=/path/to/python3.12"; exit 1; }
	@test -x $(BIN)/python || { echo "Creating $(VENV) …"; "$(PYTHON)" -m venv $(VENV); }
	@$(BIN)/python -m uv --version >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@echo "Installing what requirements.lock names …"
	@# Behind a proxy that signs with a certificate of its own only the system's certificates are of use.
	@$(INSTALL) --require-hashes -r requirements.lock 2>/dev/null || $(INSTALL) --system-certs --require-hashes -r requirements.lock
	@$(INSTALL) --no-build-isolation --editable .
	@touch $@

check: $(READY) ## what CI runs: ruff, formatting, mypy, import rules, tests and long tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-long

fix: $(READY) ## repair what ruff can repair, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(READY) chromium redis ## the tests, on a real embedded PostgreSQL and the simulated web
	@$(BIN)/python -m pytest -n $(WORKERS) -m "$(QUICK_TESTS)" $(ARGS)

test-pg16: $(READY) ## the same on the other bundled server, PostgreSQL 16
	@HEADWATER_TEST_PG=16 $(MAKE) --no-print-directory test

test-pg15: $(READY) postgresql-15 ## the same on Debian's PostgreSQL 15, the oldest that is supported, with JIT
	@HEADWATER_TEST_PG=15 $(MAKE) --no-print-directory test

test-py312: $(READY) ## the same on Python 3.12, in .venv-3.12
	@python=$$(.ci/find-python 3.12 $(BIN)/python) && $(MAKE) --no-print-directory VENV=.venv-3.12 PYTHON="$$python" test

test-py313: $(READY) ## the same on Python 3.13, in .venv-3.13
	@python=$$(.ci/find-python 3.13 $(BIN)/python) && $(MAKE) --no-print-directory VENV=.venv-3.13 PYTHON="$$python" test

postgresql-15:
	@if [ ! -x /usr/lib/postgresql/15/bin/postgres ] && [ -f /etc/debian_version ] && [ "$$(id -u)" = 0 ]; then \
	  echo "Installing postgresql-15 …"; \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends postgresql-15; } >/dev/null 2>&1 \
	    || echo "postgresql-15 could not be installed."; \
	fi

# Some tests look at pages as a person would. As root on Debian their browser is installed; elsewhere they are skipped.
chromium:
	@if grep -rqs "mark.browser" tests && ! command -v chromium >/dev/null && [ -f /etc/debian_version ] && [ "$$(id -u)" = 0 ]; then \
	  echo "Installing chromium …"; \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium; } >/dev/null 2>&1 \
	    || echo "chromium could not be installed; the tests that need it are skipped."; \
	fi

opensearch: $(READY) ## a real OpenSearch for tries, at port 9200 or ARGS; Maven fetches it into the cache
	@$(BIN)/python -m tests.search_servers opensearch $(ARGS)

elasticsearch: $(READY) ## a real Elasticsearch in the same way
	@$(BIN)/python -m tests.search_servers elasticsearch $(ARGS)

# The sink for Redis is tried on a real server, which tests start themselves.
redis:
	@if ! command -v redis-server >/dev/null && [ -f /etc/debian_version ] && [ "$$(id -u)" = 0 ]; then \
	  echo "Installing redis-server …"; \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends redis-server; } >/dev/null 2>&1 \
	    || echo "redis-server could not be installed; the tests that need it are skipped."; \
	fi

# It reads the description of a small machine by its own schema.
cloud-init:
	@if ! command -v cloud-init >/dev/null && [ -f /etc/debian_version ] && [ "$$(id -u)" = 0 ]; then \
	  echo "Installing cloud-init …"; \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends cloud-init; } >/dev/null 2>&1 \
	    || echo "cloud-init could not be installed; the test that needs it is skipped."; \
	fi

test-long: $(READY) chromium redis cloud-init ## killed processes, bombs, browsers, real search servers, hostile neighbours: minutes of real work
	@$(BIN)/python -m pytest -n $(LONG_WORKERS) -m "long or opensearch" $(ARGS)

test-slow: $(READY) ## the slow proofs: a million URLs in one call, two hundred publishers over days
	@$(BIN)/python -m pytest -m slow $(ARGS)

faults: $(READY) ## every fault of docs/reliability.md, written down there; ROWS="F1 F7" for some, SEED=7 to repeat one
	@SEED="$(SEED)" $(BIN)/python -m pytest -n $(LONG_WORKERS) --faults="$(ROWS)" $(ARGS)

soak: $(READY) ## processes under faults drawn at random, then every invariant: MINUTES=60, or REQUESTS=1000000; SEED=7 repeats
	@$(BIN)/python -m tests.faults.soak $(if $(REQUESTS),--requests $(REQUESTS) --minutes $(or $(MINUTES),1440),--minutes $(or $(MINUTES),60)) \
	  $(if $(SEED),--seed $(SEED)) $(ARGS)

unit: $(READY) ## only the pure tests: seconds
	@$(BIN)/python -m pytest tests/unit $(ARGS)

coverage: $(READY) ## tests with coverage of src; fails under 91 %
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -n $(WORKERS) -m "$(QUICK_TESTS)" $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

bench: bench-urls bench-simweb bench-signing bench-feeds bench-templates bench-neighbours bench-search bench-page ## every benchmark

bench-page: $(READY) ## those of docs/performance.md, written there with plots; QUICK=1, ARGS="frontier net" for some
	@$(BIN)/python -m benchmarks.performance $(if $(QUICK),--quick) $(ARGS)

bench-urls: $(READY) ## canonical keys per second on one core
	@$(BIN)/python -m benchmarks.urls $(ARGS)

bench-simweb: $(READY) ## pages per second served by the simulated web from one core
	@$(BIN)/python -m benchmarks.simweb $(ARGS)

bench-frontier: $(READY) ## claims, settles and submits per second; QUICK=1 stays under two minutes
	@$(BIN)/python -m benchmarks.frontier $(if $(QUICK),--quick) $(ARGS)

bench-signing: $(READY) ## what the signature of a request costs
	@$(BIN)/python -m benchmarks.signing

bench-net: $(READY) ## requests per CPU-second beside bare aiohttp, pooling and memory
	@$(BIN)/python -m benchmarks.net $(ARGS)

bench-feeds: $(READY) ## feeds read as feedparser reads them, at which CPU; FEEDS=folder
	@$(BIN)/python -m benchmarks.feeds $(if $(FEEDS),--feeds $(FEEDS)) $(ARGS)

bench-cadence: $(READY) ## delay from publication to discovery at equal polls, policy by policy; TRACES=file PUSH=share
	@$(BIN)/python -m benchmarks.cadence $(if $(TRACES),--traces $(TRACES)) $(if $(PUSH),--push $(PUSH)) $(ARGS)

bench-extract: $(READY) ## text and facts out of four sets of pages, beside four others; ARTICLES= WORLD= STRINGS= PUBLISHERS=
	@$(BIN)/python -m benchmarks.extract $(if $(ARTICLES),--articles $(ARTICLES)) $(if $(WORLD),--world $(WORLD)) \
	  $(if $(STRINGS),--strings $(STRINGS)) $(if $(PUBLISHERS),--publishers $(PUBLISHERS)) $(ARGS)

bench-templates: $(READY) ## what a host's learned template reads, beside trafilatura; PUBLISHERS=folder
	@$(BIN)/python -m benchmarks.templates $(if $(PUBLISHERS),--publishers $(PUBLISHERS)) $(ARGS)

bench-path: $(READY) ## from claim to stored document, beside Scrapy; QUICK=1 takes three minutes
	@$(BIN)/python -m benchmarks.path $(if $(QUICK),--quick) $(ARGS)

bench-neighbours: $(READY) ## the healthy publishers' rate beside a hostile neighbour; QUICK=1 stays under two minutes
	@$(BIN)/python -m benchmarks.neighbours $(if $(QUICK),--quick) $(ARGS)

bench-search: $(READY) ## what the pending list of the search index costs in WAL and in time of searches
	@$(BIN)/python -m benchmarks.search $(ARGS)

bench-search-engine: $(READY) ## what search costs a page in WAL, kept and switched off; the switch; OpenSearch beside it
	@$(BIN)/python -m benchmarks.search_engine $(ARGS)

bench-deliver: $(READY) ## changes per second into sinks, beside the official client; the log's delay; idle cost
	@$(BIN)/python -m benchmarks.deliver $(ARGS)

bench-scale: $(READY) ## every chore and report at 200,000 sources and a tenth of it; QUICK=1: a tenth and a hundredth
	@$(BIN)/python -m benchmarks.scale $(if $(QUICK),--quick) $(ARGS)

bench-serve: $(READY) ## the API's lists, searches, changes and explain at 1 M documents and 10 M entries; QUICK=1: a tenth
	@$(BIN)/python -m benchmarks.serve $(if $(QUICK),--quick) $(ARGS)

bench-faults: $(READY) ## connections, stalls, crashes, a network away, kills at 20,000 feeds; QUICK=1: 2,000
	@$(BIN)/python -m benchmarks.faults $(if $(QUICK),--quick) $(ARGS)

release: $(READY) ## wheel and sdist in dist/: built, checked, installed without a network and run
	@.ci/release $(BIN)/python

site: $(READY) ## the documents as a site in build/site, searchable without a network; a broken link fails
	@.ci/site $(BIN)/python

demo: $(READY) ## the main job, offline, on embedded defaults
	@$(BIN)/headwater demo $(ARGS)

docs: schema ## rewrite the generated pages in docs/
	@$(BIN)/python -m headwater.cli.reference docs

client: $(READY) ## rewrite the generated part of headwater.client from the description of the API
	@$(BIN)/python -m headwater.serve.client_code.writing src/headwater/client
	@$(BIN)/ruff check --quiet --fix --select I src/headwater/client
	@$(BIN)/ruff format --quiet src/headwater/client

schema: $(READY) ## rewrite docs/schema.sql, the whole database, from a migrated one
	@$(BIN)/python -m headwater.database.schema_page docs

screenshots: $(READY) chromium ## take the pictures of docs/pictures again, from the demo's world
	@$(BIN)/python -m tests.browser.pictures $(ARGS)

COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --custom-compile-command "make lock"

lock: $(READY) ## resolve again into requirements.lock, universal, with hashes and without an index address
	$(COMPILE) --extra dev pyproject.toml --output-file requirements.lock
	@# Of the same versions: what the image runs, and what it is built with.
	$(COMPILE) --constraint requirements.lock --extra redis --extra warc --extra mcp --extra identity --extra s3 pyproject.toml --output-file deploy/run.lock
	echo hatchling | $(COMPILE) --constraint requirements.lock - --output-file deploy/build.lock

clean: ## remove .venv and what tools left behind
	rm -rf $(VENV) .venv-3.* dist build htmlcov .coverage .coverage.* .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
