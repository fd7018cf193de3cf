# Needs a Rust toolchain, Python 3.11, make and a C compiler; for the lab and its tests also Node and rustup.
#   make build   a working .venv/bin/thalweg        make suite   run the C4 suite
#   make test    everything that must hold          make bench   the table of speed
#   make audit   a part of all trials under the auditor, another one with each commit
#   make stacks  the stacks of examples/stacks, as libraries in target/stacks
#   make fuzz    random cases, for SECONDS=600 if nothing else is said: fuzz/README.md

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

# One interpreter for every build of the native module: changing it would compile the binding again.
export PYO3_PYTHON := $(abspath $(BIN)/python)

.DEFAULT_GOAL := build
.PHONY: build suite stacks wasm manual lab no-lab no-node lab-tests browser actionlint site wheels crates pages pages-check test test-rust test-python audit audit-all fuzz fuzz-engine fuzz-python fuzz-new kills kills-sweep advisories lint format schema hashes documents columns picture bench bench-browser bench-trial bench-compare bench-check lock clean

# The page of the lab too, where there is what builds it.
HAS_LAB := $(and $(shell command -v node 2>/dev/null),$(shell command -v npm 2>/dev/null),$(shell command -v rustup 2>/dev/null))
build: $(VENV)/.built $(if $(HAS_LAB),lab,no-lab)

# Says what a step is, runs it, and says how long it took: $(call timed,WHAT,COMMAND)
timed = @echo "$(1)"; begin=$$(date +%s); $(2) && echo "  done in $$(($$(date +%s) - begin)) s"

$(VENV)/.packages: requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(call timed,Installing the $(shell grep -c == requirements.lock) Python packages of requirements.lock into $(VENV):\
	  half a minute, \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock)
	@touch $@

# The Python files are used in place; only the native module needs to be built again. All packages are
# there already, at the versions of the lock: pip has nothing to resolve.
$(VENV)/.built: $(VENV)/.packages pyproject.toml $(RUST)
	$(call timed,Compiling the native module: two to four minutes the first time; less after a change of a crate, \
	  VIRTUAL_ENV=$(abspath $(VENV)) PIP_QUIET=1 PIP_NO_DEPS=1 $(BIN)/maturin develop --release --locked --quiet)
	@touch $@

# A verdict that fails is an answer (status 1), not a failure of the run.
suite: $(VENV)/.built
	rm -f results/c4/report.html
	$(BIN)/thalweg suite c4 --out results/c4 || [ $$? -eq 1 ]
	test -s results/c4/report.html

ZIG := 0.17.1
ZIGS := target/zig-$(ZIG)

# The pages of the manual, for `thalweg docs` of a wheel.
manual:
	rm -rf python/thalweg/manual/pages && mkdir -p python/thalweg/manual/pages
	cd docs && find . -name '*.md' | tar -cf - -T - | tar -xf - -C ../python/thalweg/manual/pages

# For x86-64 and, cross-built, aarch64, into dist; zig links against the C library of manylinux_2_28, whatever is here.
# For macOS: .github/workflows/wheels.yml, on machines of that kind.
wheels: $(VENV)/.packages lab manual
	test -x $(ZIGS)/bin/python || { $(PYTHON) -m venv $(ZIGS) && \
	  $(ZIGS)/bin/pip install --quiet --disable-pip-version-check ziglang==$(ZIG); }
	rustup target add x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
	rm -rf dist
	for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do \
	  PATH="$(abspath $(ZIGS)/bin):$$PATH" $(abspath $(BIN))/maturin build --release --locked --quiet \
	    --zig --compatibility manylinux_2_28 --target $$target --out dist || exit 1; done
	$(BIN)/maturin sdist --out dist
	ls -l dist

# What a release would publish on crates.io, without publishing: every crate is packed, in the order of their dependencies,
# and built from its package alone, against the packages of the others. Needs a clean checkout.
crates:
	cargo publish --workspace --dry-run --locked

# The manual as a site that needs no network: target/site/index.html. A warning, such as a link to nothing, is a failure. The lab in
# it runs in the browser, but browsers load its code from web servers only: python3 -m http.server -d target/site
site: build lab
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -c docs/site -d target/site-read . target/site
	@echo "open target/site/index.html"

# Makes each page of docs that has a script, or PAGES="fidelity l4s"; each names the commit that it was made with.
pages: build
	$(BIN)/python -m pages $(PAGES)

# Measures some lines of those pages again, others with each commit, and fails where one no longer holds.
pages-check: build
	$(BIN)/python -m pages --check $(addprefix --seed ,$(SEED)) $(PAGES)

# The engine in WebAssembly, for the page of the lab and the Node of the tests. `lab/src/engine/wasm.ts` speaks with it.
WASM := target/web/thalweg_web.wasm
wasm: $(WASM)

$(WASM): $(RUST)
	rustup --quiet target add wasm32-unknown-unknown
	$(call timed,Compiling the engine to WebAssembly: one minute, \
	  cargo rustc --quiet --release --locked -p thalweg-web --target wasm32-unknown-unknown -- -C strip=debuginfo)
	@mkdir -p $(@D) && cp target/wasm32-unknown-unknown/release/thalweg_web.wasm $@

# The page of the lab, into the Python package. It needs Node and rustup to build, neither to run.
LAB_PAGE := python/thalweg/lab/page/index.html
lab: $(if $(HAS_LAB),$(LAB_PAGE),no-node)

$(LAB_PAGE): $(WASM) lab/node_modules/.packages \
    $(shell find lab -path lab/node_modules -prune -o -type f -print)
	npm run build --prefix lab --silent
	@touch $@

lab/node_modules/.packages: lab/package-lock.json
	npm ci --prefix lab --no-audit --no-fund --silent
	@touch $@

NEEDS_NODE := the page of the lab needs Node, npm and rustup: install them, then run make lab
no-node:
	@echo "$(NEEDS_NODE)"; exit 1

no-lab:
	@test -f $(LAB_PAGE) || echo "without the lab: $(NEEDS_NODE)"

# Tests of the lab are skipped where it cannot be built, but not in CI.
lab-tests:
	@if test -n "$(HAS_LAB)"; then $(MAKE) --no-print-directory lab; \
	  else echo "SKIPPED tests of the lab: $(NEEDS_NODE)"; test -z "$$CI"; fi

test: lint test-rust test-python bench-check pages-check audit fuzz-new

# Properties draw the same cases for everyone who tests this commit, others with each commit; SEED=NUMBER draws others.
test-rust: $(VENV)/.packages
	PROPTEST_RNG_SEED=$(or $(SEED),$$((0x$(or $(shell git rev-parse --short=12 HEAD 2>/dev/null),0)))) \
	  cargo test --workspace --exclude thalweg-bindings --locked --quiet

# The Chromium that tests of pages move: root gets itself Debian's package; for others the tests say what they skip.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || test -n "$(CHROMIUM)" \
	  || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
	    && echo "Installing Debian's packages chromium and fonts-liberation, for tests of pages" && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium fonts-liberation; } \
	  || { echo "SKIPPED tests of pages in a browser: there is no Chromium, and only root can install it"; test -z "$$CI"; }

# What checks the action of `ci`, where Go can get it. Without it the test is skipped, in CI too.
ACTIONLINT := target/tools/actionlint
actionlint:
	@command -v actionlint > /dev/null || test -n "$$ACTIONLINT" || test -x $(ACTIONLINT) \
	  || { command -v go > /dev/null \
	    && GOBIN=$(abspath target/tools) go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12; } \
	  || { echo "SKIPPED the check of the action of GitHub: there is no actionlint, and Go is missing or could not get it"; }

# Stacks that others wrote, as libraries: target/stacks/lib*.so. In CI each must build, but for ngtcp2 without its packages and quiche without cmake.
STACKS := $(notdir $(patsubst %/,%,$(wildcard examples/stacks/*/)))
stacks:
	@mkdir -p target/stacks
	@for stack in $(STACKS); do \
	  $(MAKE) --no-print-directory -C examples/stacks/$$stack TARGET=$(abspath target/stacks) \
	    || { echo "SKIPPED the stack $$stack: it could not be built, and its tests are skipped"; test -z "$$CI" || exit 1; }; \
	done

# Real-time tests have the machine for themselves.
test-python: build stacks lab-tests browser actionlint
	$(BIN)/python -m pytest -m "not realtime" --numprocesses auto --dist loadfile
	$(BIN)/python -m pytest -m realtime

# Says what it plays; SEED=TEXT plays the part of another commit.
audit: build
	$(BIN)/python tests/audit_part.py $(or $(SECONDS),90) $(SEED)

# All of it, for hours; goes on where it was interrupted. TRIALS=10 STACKS="model quic" say how much.
audit-all: build
	$(BIN)/python tests/audit_all.py target/audit-all-$(shell git rev-parse --short HEAD).txt $(or $(TRIALS),100) $(STACKS)

# Two thirds of the time for the engine, one for what is stored, drawn and probed; each says how to repeat a find.
fuzz: fuzz-engine fuzz-python

NOW := $(shell date +%s)

fuzz-engine:
	cargo run --quiet --locked --profile fuzz -p thalweg-fuzz -- run \
	  --seconds $$(($(or $(SECONDS),600) * 2 / 3)) --seed $(or $(SEED),$(NOW)) $(addprefix --targets ,$(TARGETS))

fuzz-python: build
	$(BIN)/python fuzz/python run \
	  --seconds $$(($(or $(SECONDS),600) / 3)) --seed $(or $(SEED),$(NOW)) $(addprefix --targets ,$(PYTHON_TARGETS))

# Two minutes of new cases, and one for the relations between trials, the same for everyone who tests this commit.
fuzz-new:
	$(MAKE) --keep-going fuzz SECONDS=120 SEED=$(or $(shell git rev-parse HEAD 2>/dev/null),0)
	$(MAKE) fuzz-engine SECONDS=90 TARGETS=relations SEED=$(or $(shell git rev-parse HEAD 2>/dev/null),0)-relations

# Kills commands a hundred times at random moments and looks at what they leave; takes a quarter of an hour.
kills: build
	$(BIN)/python tests/kills.py 100

# The same for a sweep on a cluster: the command, its workers and the scheduler; takes ten minutes.
kills-sweep: build
	$(BIN)/python tests/sweep_kills.py 50

# Not in the lock: it is neither built nor tested, and has thirty dependencies.
PIP_AUDIT := 2.10.1
AUDIT := target/pip-audit-$(PIP_AUDIT)

# Says what could not be asked. Licences, sources and duplicates are held by the tests, with nothing to install.
advisories: $(VENV)/.packages
	test -x $(AUDIT)/bin/pip-audit || { $(PYTHON) -m venv $(AUDIT) && \
	  $(AUDIT)/bin/pip install --quiet --disable-pip-version-check pip-audit==$(PIP_AUDIT); } || true
	PATH="$(abspath $(AUDIT)/bin):$$PATH" $(BIN)/python tests/advisories.py

lint: build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff check python tests fuzz/python pages bench docs/site
	$(BIN)/ruff format --check python tests fuzz/python pages bench docs/site
	$(BIN)/mypy

format: $(VENV)/.packages
	cargo fmt --all
	$(BIN)/ruff check --fix python tests fuzz/python pages bench docs/site
	$(BIN)/ruff format python tests fuzz/python pages bench docs/site

# A test holds that the committed file is this one.
schema: build
	$(BIN)/python -c "from thalweg import _native; print(_native.scenario_schema())" > docs/reference/schemas/scenario.schema.json

# Tests of the debug and of the release build hold this table; a change of it is a change of behaviour.
# What the main commands print and store, as a test holds it.
documents: build
	THALWEG_DOCUMENTS=write $(BIN)/python -m pytest -q tests/command_line/test_documents.py

# The columns of studies, on the pages of studies, as a test holds them.
columns: build
	$(BIN)/python -m pages.columns

hashes: build
	$(BIN)/python tests/trace_hashes.py

# The figure of README.md, and the same with a number at each part.
picture: build
	$(BIN)/python -m pages.pictures

# The table of speed, with goals; stored in target/bench.json. What is measured in more detail: cargo bench.
bench: build bench-trial
	$(BIN)/python bench/table.py

# What the page of the lab and a report take in Chromium; stored in target/bench-browser.json.
bench-browser: build lab browser
	$(BIN)/python bench/browser.py

bench-trial:
	cargo build --release --locked --quiet -p thalweg-sim --example trial

# The same table beside that of another commit, which is built in a folder of its own: make bench-compare BASE=HEAD~1
bench-compare: build bench-trial
	test -n "$(BASE)" || { echo "say which commit: make bench-compare BASE=HEAD~1"; exit 2; }
	test -d target/base || git worktree add --force --detach target/base "$(BASE)"
	git -C target/base checkout --quiet --detach "$(BASE)"
	$(MAKE) -C target/base build
	cargo build --manifest-path target/base/Cargo.toml --target-dir target/base/target \
	  --release --locked --quiet -p thalweg-sim --example trial
	$(BIN)/python bench/table.py --base target/base

# Holds the instructions of the usual trial to what docs/explanation/performance.md says of them.
bench-check: build bench-trial
	$(BIN)/python bench/table.py --check

# Takes the newest versions that pyproject.toml allows and pins them.
lock:
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
	  e = p['project']['optional-dependencies']; \
	  print('\n'.join(p['project']['dependencies'] + e['plots'] + e['fits'] + e['hunt'] + e['dev']))" > $(VENV)/wanted
	$(BIN)/python -m pip install --quiet --requirement $(VENV)/wanted
	sed -n 1p requirements.lock > $(VENV)/lock
	$(BIN)/python -m pip freeze >> $(VENV)/lock
	mv $(VENV)/lock requirements.lock

clean:
	cargo clean
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache
	find python -name '*.so' -o -name __pycache__ | xargs rm -rf
