# Every target starts from a bare Python (3.11 or newer) and make.
#
#   make demo    set everything up and judge the bundled run
#   make test    set everything up and pass the whole suite
#   make check   lint, format, types, layers
#   make bench   print the benchmarks
#   make soak    hundreds of kills, signals and full disks, and what became of passes (minutes)
#   make clean   remove what the other targets made here
#   make test-agents   install six real agents (1.7 GB) and start each of them on a task

PYTHON ?= python3
export UV_PYTHON ?= $(PYTHON)
export UV_PYTHON_DOWNLOADS ?= never
export UV_NO_PROGRESS = 1
export UV_COMPILE_BYTECODE = 1

UV := $(shell command -v uv 2>/dev/null || echo .tools/bin/uv)
LOCKED := pyproject.toml uv.lock

.PHONY: demo test check bench soak clean test-agents
demo: .venv/.runs
	@.venv/bin/adjudge demo

test: .venv/.develops
	@sh scripts/need.sh bwrap:bubblewrap git:git
	@sh scripts/need.sh dockerd:docker.io || true  # tests of containers are skipped without it
	@sh scripts/need.sh initdb:postgresql || true  # and those of stores in PostgreSQL without this
	@sh scripts/need.sh chromium:chromium || true  # and those of pages in a browser without this
	.venv/bin/pytest -n auto --dist loadgroup

test-agents: .venv/.develops
	@sh scripts/need.sh bwrap:bubblewrap git:git
	@sh scripts/need.sh dockerd:docker.io || true  # tests of containers are skipped without it
	@sh scripts/agents.sh $(UV)
	.venv/bin/pytest tests/agents/real -n 2 --dist loadgroup

check: .venv/.develops
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

bench: .venv/.develops
	@sh scripts/need.sh bwrap:bubblewrap
	.venv/bin/python -m bench

soak: .venv/.develops
	@sh scripts/need.sh bwrap:bubblewrap
	ADJUDGE_SOAK=1 .venv/bin/pytest tests/passes/test_durability.py

.venv/.runs: $(LOCKED) | $(UV)
	@sh scripts/need.sh bwrap:bubblewrap || true
	@echo "Setting up .venv (once)" >&2
	@$(UV) sync --quiet --frozen --inexact --no-dev --extra web
	@touch $@

.venv/.develops: $(LOCKED) | $(UV)
	$(UV) sync --quiet --frozen --inexact --all-extras
	@touch $@ .venv/.runs

.tools/bin/uv:
	@sh scripts/need.sh --python $(PYTHON)
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install --quiet --disable-pip-version-check "uv>=0.9"

clean:
	rm -rf .venv .tools .agents .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
