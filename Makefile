# make run     the console on this machine, until Ctrl-C (PORT=8000)
# make test    every test, on real servers and in a real browser
# make check   style, types, direction of imports, deploy settings, migrations, templates
# make accuracy  verdicts on 160 labelled incidents, counted
# make bench   the engine against ripgrep on a generated 64-node, 1 GiB bundle (needs rg)
# make format  what `check` can put right by itself

PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 8000
BIN := .venv/bin
TEMPLATES = find templates -name '*.html' -print0 | xargs -0 -r $(BIN)/djade --target-version 5.2
REQUIREMENTS = import sys, tomllib; \
  project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  extras = [line for extra in sys.argv[1:] for line in project["optional-dependencies"][extra]]; \
  print(*project["dependencies"], *extras, sep="\n")

.DEFAULT_GOAL := run
.PHONY: run test check accuracy bench format clean

run: .venv/.installed-run
	@exec $(BIN)/python -m attribution.launch --port $(PORT)

test: .venv/.installed-dev
	DATABASE_URL=sqlite:///second-database $(BIN)/python -m pytest -m both_databases -q
	$(BIN)/python -m pytest

check: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python manage.py check --deploy --fail-level WARNING
	DATABASE_URL=sqlite:// $(BIN)/python manage.py makemigrations --check --dry-run
	$(TEMPLATES) --check

accuracy: .venv/.installed-dev
	$(BIN)/python -m tests.bench.accuracy

bench: .venv/.installed-dev
	$(BIN)/python -m tests.bench.against_ripgrep

format: .venv/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(TEMPLATES)

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# The stamps say for which pyproject.toml the environment was filled. Debian's own Python comes without ensurepip; there
# the pip that stands beside it fills the new environment.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one: make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { \
	  $(PYTHON) -m venv --clear --without-pip .venv && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	@touch $@

.venv/.installed-run: EXTRAS =
.venv/.installed-dev: EXTRAS = check test
.venv/.installed-run .venv/.installed-dev: pyproject.toml | .venv/.made
	@echo "Installing what pyproject.toml names into .venv ..."
	@$(BIN)/python -c '$(REQUIREMENTS)' $(EXTRAS) > .venv/requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r .venv/requirements.txt
	@touch $@
