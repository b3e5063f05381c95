# Thin: every build is a CMake preset (`cmake --list-presets`), every check a script in tools/.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
HOST ?= 127.0.0.1
PORT ?= 8080
DIR ?= examples/site
FUZZ_SECONDS ?= 30

.PHONY: help deps run test test-packages test-minimal test-arm64 test-musl test-windows packages preflight interop bench docs fuzz format check
.DEFAULT_GOAL := help

help: ## show this list
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 22
	@echo "Variables: PORT=$(PORT) DIR=$(DIR) HOST=$(HOST) JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS)"

deps: ## install missing build and test dependencies (Debian, Ubuntu)
	@bash tools/deps.sh test

# Compiles nothing that the command does without; `make test` compiles the rest.
run: ## install what is missing, build, then serve DIR on PORT
	@bash tools/deps.sh
	@cmake --preset release -DSKUA_BUILD_TESTS=OFF -DSKUA_BUILD_EXAMPLES=OFF -DSKUA_BUILD_BENCH=OFF -DSKUA_REDIS=OFF --log-level=WARNING >/dev/null
	@cmake --build --preset release -j$(JOBS) --target skua-cli
	@exec build/release/bin/skua serve "$(DIR)" --host "$(HOST)" --port "$(PORT)"

test: deps check ## build, then run every check and every test
	@bash tools/build_and_test.sh release $(JOBS)

test-packages: ## build the library as it is installed and packaged, and programs that use it in every way
	@bash tools/deps.sh ci
	@python3 -B tests/packaging/run.py

test-minimal: deps ## build without any optional library, and run every test
	@bash tools/build_and_test.sh minimal $(JOBS)

test-arm64: ## cross-compile for 64-bit ARM, and run the unit tests under QEMU
	@bash tools/test_arm64.sh $(JOBS)

test-musl: ## build statically with musl and libc++, and run the tests that may differ
	@bash tools/test_musl.sh $(JOBS)

test-windows: ## cross-compile for Windows with MinGW, and run the tests under Wine
	@bash tools/test_windows.sh $(JOBS)

packages: deps ## make the Debian packages, in build/package
	@bash tools/package.sh

check: deps ## run the checks that need no build: layers, sizes, format, headers, snippets
	@bash tools/check.sh

preflight: ## before a submission: run most of CI in minutes (writes the commit to build/preflight)
	@bash tools/preflight.sh $(BASE)

interop: deps ## build, download 1 GB, and run the whole Autobahn suite on every back end, both ways (two hours)
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release -j$(JOBS)
	@python3 -B tests/interop/client_download_test.py build/release/bin/skua --large
	@python3 -B tests/interop/autobahn_test.py build/release/bin/skua-bench-server --all

format: ## format the C++ sources
	@bash tools/format.sh

bench: ## measure everything, beside the raw ceilings and other servers, into bench/results (about 40 minutes)
	@bash tools/deps.sh bench
	@bench/run

docs: ## build the API reference and the guides into build/docs/html (Doxygen)
	@bash tools/deps.sh docs
	@python3 tools/build_docs.py
	@echo "build/docs/html/index.html"

fuzz: ## build the fuzz targets and run each for FUZZ_SECONDS
	@bash tools/deps.sh ci
	@bash tools/fuzz.sh $(FUZZ_SECONDS) $(JOBS)
