# Every target makes its own environment in .venv: nothing but Python 3.11 - 3.13 and make is needed.

PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python; do \
	"$$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& { echo "$$name"; break; }; done)
BIN := .venv/bin

# $(call environment,NAME,WHAT,PROOF) installs WHAT into .venv. Nothing happens when .venv/NAME.toml says
# that it was done for this very pyproject.toml and PROOF still runs. A first install of NAME adds to a
# sound environment; a changed pyproject.toml or a PROOF that fails starts from an empty one.
define environment
@test -n "$(PYTHON)" || { echo "nashboard needs Python 3.11, 3.12 or 3.13 (or: make PYTHON=/path/to/python)" >&2; exit 2; }
@if cmp -s pyproject.toml .venv/$(1).toml && $(BIN)/python -c "$(3)" >/dev/null 2>&1; then exit 0; fi; \
if test -e .venv/$(1).toml || ! cmp -s pyproject.toml .venv/demo.toml; then \
	echo "Making an environment in .venv ..." >&2; rm -rf .venv && $(PYTHON) -m venv .venv || exit 1; fi; \
echo "Installing nashboard ($(1)) ..." >&2; \
$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable "$(2)" || exit 1; \
cp pyproject.toml .venv/$(1).toml
endef
DEMO_PROOF := import nashboard, altair, jinja2, numba, numpy, scipy, polars, narwhals, threadpoolctl, typer, rich, vl_convert, zstandard
DEV_PROOF := import nashboard, chess, distributed, duckdb, hypothesis, ibis, playwright, mypy, pandas, pyarrow, pytest, xdist

DOCS_PROOF := import nashboard, material, mkdocs, mkdocstrings_handlers.python

.PHONY: help demo test test-all test-lowest coverage lint format docs bench bench-full clean
.PHONY: bench-environment demo-environment dev-environment docs-environment

help:
	@echo "make demo    evaluate the bundled Atari table: a leaderboard, and a report in out/atari.html"
	@echo "make test    run the tests that are fast; make test-all runs all, make coverage measures coverage"
	@echo "make lint    ruff and mypy --strict over src and tests; make test-lowest tests the lowest supported versions"
	@echo "make docs    build the documentation into site/: strict, offline"
	@echo "make bench   measure against peers, a few minutes, into out/benchmarks.md; make bench-full everything"
	@echo "make clean   remove the environment and all caches"

demo: demo-environment
	@$(BIN)/nashboard evaluate dataset:atari
	@mkdir -p out && $(BIN)/nashboard report dataset:atari -o out/atari.html

# Two processes, so one thread each; a file or a server belongs to one of them, in the order of tests/conftest.py. Bytecode
# is kept even where the environment says otherwise: tests start many processes, and each would compile the package again.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder

test: dev-environment
	@$(PYTEST) -m "not slow"

# Coverage is that of the fast tests: measuring it makes browsers, servers and other programs only slower.
test-all: coverage
	@$(PYTEST) -m slow --hypothesis-profile thorough --durations=50 --durations-min=5

coverage: dev-environment
	@$(PYTEST) -m "not slow" --hypothesis-profile thorough --cov=nashboard --cov-report=term:skip-covered --cov-report=html:out/coverage

# The lowest supported version of every dependency, in an environment of its own: the examples of all docstrings, which
# use every part, the command and its tables.
test-lowest:
	@test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	@$(PYTHON) .ci/lowest.py > .venv-lowest/constraints.txt
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-lowest/constraints.txt \
		--editable . pytest hypothesis pandas
	@OPENBLAS_NUM_THREADS=1 NUMBA_CACHE_DIR=.venv-lowest/numba .venv-lowest/bin/python -m pytest -q -p no:cacheprovider \
		tests/test_docs.py tests/test_cli.py tests/test_tables.py -k "docstring or test_cli or test_tables"

lint: dev-environment
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: dev-environment
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: docs-environment
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet  # the variable: no advertisement of another program
	@echo "The documentation is in site/index.html"

# The peers have environments of their own: they must not decide which versions we use, and polarix not those of the others.
bench: bench-environment
	@.venv-bench/bin/python benchmarks/run.py

bench-full: bench-environment
	@.venv-bench/bin/python benchmarks/run.py --full

# $(call peers,ENVIRONMENT,REQUIREMENTS,WHAT ELSE) installs peers, unless it was done for these very requirements.
define peers
@if cat pyproject.toml benchmarks/$(2) | cmp -s - .venv-$(1)/done; then exit 0; fi; \
echo "Installing the peers of benchmarks/$(2) into .venv-$(1) ..." >&2; \
{ test -x .venv-$(1)/bin/python || $(PYTHON) -m venv .venv-$(1); } && \
.venv-$(1)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/$(2) $(3) && \
cat pyproject.toml benchmarks/$(2) > .venv-$(1)/done
endef

bench-environment:
	$(call peers,bench,requirements.txt,--editable .)
	$(call peers,polarix,requirements-polarix.txt)

clean:
	rm -rf .venv .venv-bench .venv-lowest .venv-polarix site out .mypy_cache .pytest_cache .ruff_cache .hypothesis

demo-environment:
	$(call environment,demo,.,$(DEMO_PROOF))

dev-environment: demo-environment
	$(call environment,dev,.[dev],$(DEV_PROOF))

docs-environment: demo-environment
	$(call environment,docs,.[docs],$(DOCS_PROOF))
