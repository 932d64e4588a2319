# Every target first sees to .venv, static/vendor and static/built (`.ci/setup`, from lock files); a second time that takes no time.

# Some images tell Python to keep no bytecode; every process would then compile Django anew, a second each.
export PYTHONDONTWRITEBYTECODE =

PORT ?= 8000
# Not ?=: some shells have a HOST of their own.
HOST = 127.0.0.1
PYTHON = .venv/bin/python
# For a part of the tests: make test PYTEST="tests/core -k taint"
PYTEST ?=

.PHONY: dist sbom help run setup test test-quick bytecode lint lint-types lint-others format lock translations bench measure screenshots clean

help:
	@echo "make run          podstep on http://127.0.0.1:$(PORT) (PORT=… for another); Ctrl-C ends it"
	@echo "                  HOST=0.0.0.0: also for others in your network, as for a class from a laptop"
	@echo "make test         lint, types, import directions and every test"
	@echo "make test-quick   while working: one row of each table of the engine's tests; PYTEST=tests/playground for others"
	@echo "make setup        .venv with all packages, each by its hash, and what the browser needs"
	@echo "make lint         what make test checks before the tests"
	@echo "make format       put the source in the one format"
	@echo "make bench        the workloads of the benchmark, into var/bench/"
	@echo "make measure      how the pages feel: step to paint, time to interactive, frames while dragging, bytes, a trace; PARTS=\"steps drag\" for some;"
	@echo "                  without PARTS also docker-compose.yml on a container engine (tests/compose)"
	@echo "make screenshots  every page and state into var/screenshots/, and those of the documents into docs/screenshots/"
	@echo "make lock         the lock files from pyproject.toml"
	@echo "make dist         wheels and sdists of podstep and podstep-engine into var/dist/ (docs/command-line.md)"
	@echo "make sbom         what they are made of, as CycloneDX, into var/dist/"
	@echo "make translations what gettext reads of playground/locale, compiled"
	@echo "make clean        remove .venv and caches; what podstep stored in var/ stays"

setup:
	@.ci/setup
	@[ -f static/js/lib/protocol.d.ts ] || $(PYTHON) manage.py browser_types

run: setup
	@exec $(PYTHON) manage.py serve --host $(HOST) --port $(PORT) --end-with-parent

test: setup
	@.ci/test-packages
	@$(MAKE) --no-print-directory -j 2 --output-sync=line lint-types lint-others bytecode
	$(PYTHON) -m pytest -n 3 --dist loadgroup $(PYTEST)

# On a fresh clone the three processes would each compile every test. What is wrong with one, the tests say.
bytecode:
	@[ -d tests/core/__pycache__ ] || $(PYTHON) -m pytest --collect-only -qq -n 0 >/dev/null 2>&1 || true

# Under 90 seconds on two cores, without the lint.
test-quick: setup
	$(PYTHON) -m pytest -n 2 --one-row --durations=0 --durations-min=3 $(or $(PYTEST),tests/core)

# mypy takes half of the time: the others run at its side.
lint: setup
	@$(MAKE) --no-print-directory -j 2 --output-sync=line lint-types lint-others

lint-types:
	$(PYTHON) -m mypy

lint-others:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	.venv/bin/lint-imports
	$(PYTHON) -m vulture
	.ci/javascript lint

format: setup
	$(PYTHON) -m ruff check --fix-only .
	$(PYTHON) -m ruff format .
	.ci/javascript format

bench: setup
	$(PYTHON) -m tests.bench

measure: setup
	@.ci/test-packages
	$(PYTHON) -m tests.browser.measure $(PARTS)
	$(if $(PARTS),,$(PYTHON) -m tests.compose)

screenshots: setup
	@.ci/test-packages
	$(PYTHON) -m tests.browser.screenshots

COMPILE = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock"

dist: setup
	$(PYTHON) .ci/distributions.py var/dist

sbom: setup
	$(PYTHON) .ci/sbom.py var/dist/podstep.cdx.json

# An entry that stands stays: `make lock UPGRADE=--upgrade` moves all to their newest.
lock: setup
	$(COMPILE) $(UPGRADE) pyproject.toml -o requirements.txt
	$(COMPILE) $(UPGRADE) -c requirements.txt pyproject.toml --extra mcp --group dev -o requirements-dev.txt
	$(COMPILE) $(UPGRADE) --no-deps --group pyproject.toml:build -o requirements-build.txt
	npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved

translations: setup
	DJANGO_SETTINGS_MODULE=tests.settings $(PYTHON) -m tests.catalogues

clean:
	rm -rf .venv node_modules static/built static/vendor .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache var/static
