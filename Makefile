# Needs a Rust toolchain, Python 3.11, make and a C compiler; for the lab and its tests also Node and rustup.
#   make build   a working .venv/bin/thalweg        make suite   run the C4 suite
#   make quick   what one wants after each edit     make bench   the table of speed
#   make test    everything that a change can break
#   make soak    what takes long, or wants the machine for itself; make soak PART=fuzz
#   make stacks  the stacks of examples/stacks, as libraries in target/stacks; make stacks STACKS=quinn
#   make fuzz    random cases, for SECONDS=600 if nothing else is said: fuzz/README.md
# On one core, or with little memory: JOBS=1.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

# One interpreter for every build of the native module: changing it would compile the binding again.
export PYO3_PYTHON := $(abspath $(BIN)/python)

.DEFAULT_GOAL := build
.PHONY: build suite quick test soak tools stacks wasm manual lab no-lab no-node browser actionlint site wheels crates pages pages-check test-rust clippy audit audit-all fuzz kills kills-sweep advisories lint format schema hashes documents columns picture bench bench-browser bench-trial bench-compare bench-check lock clean

# The page of the lab too, where there is what builds it. Packages are installed while cargo compiles.
HAS_LAB := $(and $(shell command -v node 2>/dev/null),$(shell command -v npm 2>/dev/null),$(shell command -v rustup 2>/dev/null))
build: tools
	@$(MAKE) --no-print-directory --jobs=$(JOBS) $(VENV)/.built $(VENV)/.packages $(if $(HAS_LAB),lab/node_modules/.packages)
	@$(MAKE) --no-print-directory $(if $(HAS_LAB),lab,no-lab)

# Says what is missing, all of it, before anything is installed.
tools:
	@missing=; say() { echo "missing: $$1" >&2; missing=yes; }; \
	{ command -v cargo && command -v rustc; } > /dev/null || say "a Rust toolchain, 1.89 or newer (https://rustup.rs)"; \
	! command -v rustc > /dev/null || rustc --version | awk '{ split($$2, v, "."); exit !(v[1] > 1 || v[2] >= 89) }' \
	  || say "Rust 1.89 or newer; this is $$(rustc --version): rustup update"; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null \
	  || say "Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1): make PYTHON=python3.12"; \
	$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || say "the modules venv and ensurepip of $(PYTHON) (Debian: python3-venv)"; \
	command -v cc > /dev/null || say "a C compiler, cc (Debian: gcc)"; \
	test -z "$$missing"

# Says what a step is, runs it, and says how long it took: $(call timed,WHAT,COMMAND)
timed = @echo "$(1)"; begin=$$(date +%s); $(2) && echo "  done in $$(($$(date +%s) - begin)) s"

# uv installs with a tenth of the processor time that pip takes; where it cannot be had, pip does.
UV := 0.13.9
with_pip = $(BIN)/python -m pip install --quiet --disable-pip-version-check
install = { { test -x $(BIN)/uv || $(with_pip) uv==$(UV); } 2> /dev/null \
	  && $(BIN)/uv pip install --quiet --python $(BIN)/python --requirement $(1); } || $(with_pip) --requirement $(1)

$(BIN)/python: | tools
	$(PYTHON) -m venv $(VENV)

# What the command needs. The package is used in place: a file of Python that changes needs no build.
$(VENV)/.run: requirements-run.lock | $(BIN)/python
	$(call timed,Installing the $(shell grep -c == requirements-run.lock) Python packages that the command needs into $(VENV),\
	  $(call install,requirements-run.lock))
	@echo "$(abspath python)" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/thalweg.pth"
	@printf '%s\n' '#!/bin/sh' "'''exec' \"$(abspath $(BIN)/python)\" \"\$$0\" \"\$$@\"" "' '''" \
	  'import sys' '' 'from thalweg.cli import main' '' 'if __name__ == "__main__":' '    sys.exit(main())' > $(BIN)/thalweg
	@chmod +x $(BIN)/thalweg
	@touch $@

# What developing needs as well.
$(VENV)/.packages: requirements.lock $(VENV)/.run
	$(call timed,Installing the $(shell grep -c == requirements.lock) Python packages of requirements.lock into $(VENV),\
	  $(call install,requirements.lock))
	@touch $@

# The profile of builds in place compiles again in little time what changed; a release has its own (Cargo.toml).
NATIVE := python/thalweg/_native.abi3.so
$(VENV)/.built: $(RUST) | $(BIN)/python
	$(call timed,Compiling the native module: two minutes the first time; less after a change of a crate,\
	  cargo build --profile work --locked --quiet -p thalweg-bindings)
	@cp "$$(ls target/work/lib_native.so target/work/lib_native.dylib 2> /dev/null | head -n 1)" $(NATIVE).new \
	  && mv $(NATIVE).new $(NATIVE)
	@touch $@

# A verdict that fails is an answer (status 1), not a failure of the run.
suite: tools
	@$(MAKE) --no-print-directory --jobs=$(JOBS) $(VENV)/.built $(VENV)/.run
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
	  cargo rustc --quiet --profile work --locked -p thalweg-web --target wasm32-unknown-unknown \
	    --config 'profile.work.package.thalweg-schema.opt-level="s"' -- -C strip=debuginfo)
	@mkdir -p $(@D) && cp target/wasm32-unknown-unknown/work/thalweg_web.wasm $@

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

# The lanes of checks: CONTRIBUTING.md. Some stages of the test lane, or parts of the soak: make test STAGE="rust python".
quick: tools
	@$(PYTHON) .ci/lanes.py quick

test: tools
	@$(PYTHON) .ci/lanes.py test $(STAGE)

soak: tools
	@$(PYTHON) .ci/lanes.py soak $(PART)

# Properties draw the same cases each time, so that a failure comes from the change; SEED=NUMBER draws others, as the soak does
# with each commit. The time of each test is told under a flag that is not stable: the tests see the variable that allows
# it, and not the build. Some tests run examples.
CRATES = $(or $(addprefix --package ,$(PACKAGES)),--workspace --exclude thalweg-bindings --exclude thalweg-web) --locked
test-rust: export PROPTEST_RNG_SEED = $(or $(SEED),0)
test-rust: $(BIN)/python
	cargo build $(CRATES) --examples
	cargo test $(CRATES) --lib --bins --tests --no-fail-fast --config 'target."cfg(all())".runner = ["env", "RUSTC_BOOTSTRAP=1"]' \
	  -- -Z unstable-options --report-time
	cargo test $(CRATES) --doc --quiet

# The Chromium that tests of pages move: root gets itself Debian's package; for others the tests say what they skip.
browser:
	@test -n "$(CHROMIUM)" || command -v chromium-headless-shell > /dev/null \
	  || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
	    && echo "Installing Debian's packages chromium-headless-shell and fonts-liberation, for tests of pages" && apt-get update -qq \
	    && apt-get install -qq -y --no-install-recommends chromium-headless-shell fonts-liberation; } \
	  || command -v chromium > /dev/null || command -v chromium-browser > /dev/null \
	  || { echo "SKIPPED tests of pages in a browser: there is no Chromium, and only root can install it"; test -z "$$CI"; }

# What checks the action of `ci`, where Go can get it. Without it the test is skipped, in CI too.
ACTIONLINT := target/tools/actionlint
actionlint:
	@command -v actionlint > /dev/null || test -n "$$ACTIONLINT" || test -x $(ACTIONLINT) \
	  || { command -v go > /dev/null \
	    && GOBIN=$(abspath target/tools) go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12; } \
	  || { echo "SKIPPED the check of the action of GitHub: there is no actionlint, and Go is missing or could not get it"; }

# Stacks that others wrote, as libraries: target/stacks/lib*.so; one of them: make stacks STACKS=quinn. In CI each must build, but for ngtcp2 without its packages and quiche without cmake.
STACKS := quinn $(filter-out quinn,$(notdir $(patsubst %/,%,$(wildcard examples/stacks/*/))))
stacks:
	@mkdir -p target/stacks
	@for stack in $(STACKS); do \
	  $(MAKE) --no-print-directory -C examples/stacks/$$stack TARGET=$(abspath target/stacks) \
	    || { echo "SKIPPED the stack $$stack: it could not be built, and its tests are skipped"; test -z "$$CI" || exit 1; }; \
	done

# Says what it plays; SEED=TEXT plays the part of another commit.
audit: build
	$(BIN)/python tests/audit_part.py $(or $(SECONDS),90) $(SEED)

# All of it, for hours; goes on where it was interrupted. TRIALS=10 STACKS="model quic" say how much.
audit-all: build
	$(BIN)/python tests/audit_all.py target/audit-all-$(shell git rev-parse --short HEAD).txt $(or $(TRIALS),100) $(STACKS)

# The targets take turns: the engine's, and those in Python for what is stored, drawn and probed. Each find says how to repeat it.
NOW := $(shell date +%s)
fuzz: build
	cargo run --quiet --locked -p thalweg-fuzz -- run \
	  --seconds $(or $(SECONDS),600) --seed $(or $(SEED),$(NOW)) $(addprefix --targets ,$(TARGETS))

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

# The native module also without what may be left out of it: its features are on in every other build.
clippy:
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo clippy --package thalweg-bindings --no-default-features --locked --quiet -- -D warnings

PYTHON_CODE := python tests fuzz/python pages bench docs/site .ci
lint: build clippy
	cargo fmt --all --check
	$(BIN)/ruff check $(PYTHON_CODE)
	$(BIN)/ruff format --check $(PYTHON_CODE)
	$(BIN)/mypy

format: $(VENV)/.packages
	cargo fmt --all
	$(BIN)/ruff check --fix $(PYTHON_CODE)
	$(BIN)/ruff format $(PYTHON_CODE)

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

# The same table next to the table of another commit, which is built in a folder of its own: make bench-compare BASE=HEAD~1
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

# Takes the newest versions that pyproject.toml allows and pins them, those of the command first.
wanted = $(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
	  e = p['optional-dependencies']; print('\n'.join($(1)))" > $(VENV)/wanted
lock:
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	for lock in requirements-run.lock requirements.lock; do sed -n 1p $$lock > $(VENV)/$$lock; done
	$(call wanted,p['dependencies'])
	$(BIN)/python -m pip install --quiet --requirement $(VENV)/wanted
	$(BIN)/python -m pip freeze >> $(VENV)/requirements-run.lock
	$(call wanted,p['dependencies'] + e['plots'] + e['fits'] + e['hunt'] + e['dev'])
	$(BIN)/python -m pip install --quiet --requirement $(VENV)/wanted --constraint $(VENV)/requirements-run.lock
	$(BIN)/python -m pip freeze >> $(VENV)/requirements.lock
	mv $(VENV)/requirements-run.lock $(VENV)/requirements.lock .

clean:
	cargo clean
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache
	find python -name '*.so' -o -name __pycache__ | xargs rm -rf
