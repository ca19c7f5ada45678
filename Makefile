# Everything a clone needs, with GNU make and Python 3.11 or newer alone.
#
#   make quickstart   a translator, end to end, in about two minutes after installation
#   make test         the fast tests        make slow     the long ones
#   make lint         what CI checks        make format   put right what can be put right
#   make docs         the site of the documentation, in build/site; a link that leads nowhere ends it
#   make pictures     the pictures of the documentation that need no corpus, into docs/images
#   make faults       kills, damaged files and wrong input at random, for MINUTES (CONTRIBUTING.md)
#   make documents    documents of FOLDERS, filled by stand-ins of translators for MINUTES (CONTRIBUTING.md)
#   make audit        known vulnerabilities of the pinned dependencies; needs the network
#   make bench        speed beside peers (benchmarks/README.md); make peers installs the one that is not torch
#   make reproduce    systems compared like for like: trains what the tables lack, for hours (benchmarks/README.md)
#   make packages     dist/: an sdist and a wheel, tried without torch on every Python of PYTHONS that is here
#   make sbom         dist/anaphora.cdx.json: what an installation without torch consists of (CycloneDX)
#   make release-check   all that has to hold before a release (CONTRIBUTING.md)
#   make clean        remove .venv and caches
#
#   PYTHON=python3.12         which Python builds the environment
#   PYTHONS="python3.11 .."   with make packages: the first is tried with the lowest dependencies too
#   BENCH="NAME --rounds 3"   what make bench measures, and how; everything without
#   TABLES="NAME"             which tables make reproduce fills; all without
#   TORCH_INDEX=https://...   an extra package index, for the small CPU build of torch (README.md, "Install")

PYTHON ?= python3
TORCH_INDEX ?=
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
VENV ?= .venv
BENCH ?=
MINUTES ?= 5
SEED ?=
FOLDERS ?=
TRIAL ?=
TABLES ?=

# tests import 1,500 files in every worker and in processes of their own, which are to compile them once
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --disable-pip-version-check --quiet -c constraints.txt \
           $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
# the user's environment is first made, then filled; each stamp is older than what it depends on only if work is due
MADE := $(VENV)/.made
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
AUDIT := $(VENV)/audit
SBOM := $(VENV)/sbom
VERSION = $(shell sed -n 's/^VERSION = "\(.*\)"/\1/p' src/anaphora/version.py)
PEERS := benchmarks/peers
INSTALLED_PEERS := $(PEERS)/.venv/.installed

.PHONY: quickstart install test slow docs pictures faults documents lint format audit bench reproduce peers packages \
        sbom release-check clean

quickstart: $(INSTALLED)
	$(BIN)/anaphora quickstart

install: $(INSTALLED)

# one torch thread a worker: two workers fill two cores; a file of tests stays with one, which trains its models once
test: $(INSTALLED_DEV)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -m "not slow"

# properties are tried on more examples than in the fast tier
slow: $(INSTALLED_DEV)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -m "slow or hypothesis" --hypothesis-profile thorough

docs: $(INSTALLED_DEV)
	$(BIN)/python -m tests.site

pictures: $(INSTALLED_DEV)
	$(BIN)/python -m tests.pictures

faults: $(INSTALLED_DEV)
	OMP_NUM_THREADS=1 MINUTES=$(MINUTES) SEED=$(SEED) TRIAL=$(TRIAL) $(BIN)/python -m tests.faults

documents: $(INSTALLED_DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.documents $(FOLDERS) --minutes $(MINUTES)

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python -m tests.weigh

format: $(INSTALLED_DEV)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

audit: $(MADE)
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/pip install --disable-pip-version-check --quiet pip-audit
	$(AUDIT)/bin/pip-audit --no-deps --disable-pip -r constraints.txt

bench: $(INSTALLED_DEV)
	$(BIN)/python -m benchmarks $(BENCH)

reproduce: $(INSTALLED_DEV)
	$(BIN)/python -m benchmarks.reproduce $(TABLES)

peers: $(INSTALLED_PEERS)

# a wheel of Linux takes OpenMP from the system, as torch does, so that both share their threads
packages: $(INSTALLED_DEV)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	if ls dist/*-linux_*.whl 2> /dev/null; then PATH="$(abspath $(BIN)):$$PATH" \
	  auditwheel repair --exclude libgomp.so.1 --wheel-dir dist dist/*-linux_*.whl && rm dist/*-linux_*.whl; fi
	PACKAGES=dist PYTHONS="$(PYTHONS)" $(BIN)/pytest -n 2 -rs tests/test_packages.py

sbom: packages
	$(PYTHON) -m venv --clear --without-pip $(SBOM)
	$(BIN)/pip --python $(SBOM)/bin/python install --disable-pip-version-check --quiet -c constraints.txt dist/*.whl
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/pip install --disable-pip-version-check --quiet cyclonedx-bom
	$(AUDIT)/bin/cyclonedx-py environment --output-reproducible --output-file dist/anaphora.cdx.json $(SBOM)/bin/python

release-check:
	@test -z "$$(git status --porcelain)" || { echo "The tree has changes that are not committed."; exit 1; }
	@grep -q '^## \[$(VERSION)\] - ....-..-..$$' CHANGELOG.md \
	  || { echo "CHANGELOG.md has no heading '## [$(VERSION)] - YYYY-MM-DD', as src/anaphora/version.py has it."; exit 1; }
	@! git show-ref --quiet --verify refs/tags/v$(VERSION) \
	  || { echo "The tag v$(VERSION) exists: raise VERSION in src/anaphora/version.py."; exit 1; }
	$(MAKE) lint audit test slow packages sbom
	@test -z "$$(git status --porcelain)" || { echo "The checks changed files of the tree."; exit 1; }
	@echo "Everything holds: git tag v$(VERSION), and push the tag."

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache src/*.egg-info
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(INSTALLED): $(MADE) pyproject.toml constraints.txt
	@echo "Installing into $(VENV) (a few minutes the first time) ..."
	$(INSTALL) -e '.[plot,train]'
	@touch $@

$(INSTALLED_DEV): $(INSTALLED)
	@echo "Installing the development tools into $(VENV) ..."
	$(INSTALL) -e '.[board,docs,plot,train,dev]'
	-$(INSTALL) -e '.[kenlm]'
	@touch $@

$(INSTALLED_PEERS): $(PEERS)/requirements.txt
	@echo "Installing JoeyNMT into $(PEERS)/.venv (a few minutes) ..."
	$(PYTHON) -m venv $(PEERS)/.venv
	$(PEERS)/.venv/bin/pip install --disable-pip-version-check --quiet \
	  $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r $(PEERS)/requirements.txt
	@touch $@
