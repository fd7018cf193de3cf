# Needs a Rust toolchain, Python 3.11, make and a C compiler.
#   make build   a working .venv/bin/thalweg        make suite   run the C4 suite
#   make test    everything that must hold          make bench   benchmarks

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

# One interpreter for every build of the native module: changing it would compile the binding again.
export PYO3_PYTHON := $(abspath $(BIN)/python)

.DEFAULT_GOAL := build
.PHONY: build suite fidelity test test-rust test-python lint format schema picture bench lock clean

build: $(VENV)/.built

$(VENV)/.packages: requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	touch $@

# The Python files are used in place; only the native module needs to be built again. All packages are
# there already, at the versions of the lock: pip has nothing to resolve.
$(VENV)/.built: $(VENV)/.packages pyproject.toml $(RUST)
	PIP_QUIET=1 PIP_NO_DEPS=1 $(BIN)/maturin develop --release --locked --quiet
	touch $@

# A verdict that fails is an answer (status 1), not a failure of the run.
suite: build
	rm -f results/c4/report.html
	$(BIN)/thalweg suite c4 --out results/c4 || [ $$? -eq 1 ]
	test -s results/c4/report.html

# Sets our distributions against the peer's again: docs/fidelity.md and its figures.
fidelity: build
	$(BIN)/python docs/fidelity.py

test: lint test-rust test-python

test-rust: $(VENV)/.packages
	cargo test --workspace --exclude thalweg-bindings --locked --quiet

# Real-time tests have the machine for themselves.
test-python: build
	$(BIN)/python -m pytest -m "not realtime" --numprocesses auto --dist loadfile
	$(BIN)/python -m pytest -m realtime

lint: build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff check python tests
	$(BIN)/ruff format --check python tests
	$(BIN)/mypy

format: $(VENV)/.packages
	cargo fmt --all
	$(BIN)/ruff check --fix python tests
	$(BIN)/ruff format python tests

# A test holds that the committed file is this one.
schema: build
	$(BIN)/python -c "from thalweg import _native; print(_native.scenario_schema())" > docs/scenario.schema.json

# The figure of README.md, with fewer points than a figure to zoom into.
picture: build
	$(BIN)/python -c "import thalweg; from thalweg.plots import plot_trial, save; \
	  trial = thalweg.Scenario.load('c4/simple-20mbps').run(seed=1, trace=True); \
	  save(plot_trial(trial, buckets=200), 'docs/images/simple-20mbps.svg')"

bench: build
	cargo bench --workspace --locked

# Takes the newest versions that pyproject.toml allows and pins them.
lock:
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
	  print('\n'.join(p['project']['dependencies'] + p['project']['optional-dependencies']['dev']))" > $(VENV)/wanted
	$(BIN)/python -m pip install --quiet --requirement $(VENV)/wanted
	sed -n 1p requirements.lock > $(VENV)/lock
	$(BIN)/python -m pip freeze >> $(VENV)/lock
	mv $(VENV)/lock requirements.lock

clean:
	cargo clean
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache
	find python -name '*.so' -o -name __pycache__ | xargs rm -rf
