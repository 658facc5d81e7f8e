# A thin front for CMake: `make help` lists what it does.
PREFIX       ?= /usr/local
JOBS         ?= $(shell nproc)
FUZZ_SECONDS ?= 60

PROGRAM = program pages cull cull_static select select_static
CTEST   = ctest --output-on-failure --no-tests=error -j $(JOBS) --test-dir

export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)
export UBSAN_OPTIONS = print_stacktrace=1
export LSAN_OPTIONS = suppressions=$(CURDIR)/tools/lsan.supp:print_suppressions=0

.PHONY: all test check check-gpu check-long install bench fuzz demo docs format clean help

all: ## build build/cull, the libraries build/libcull.so and .a, and libcull_select
	tools/setup.sh build
	cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	cmake --build build --target $(PROGRAM) -- --quiet

# Only what is run is built, where that is less than all.
build-tsan: ONLY = --target threaded
build-fuzz: ONLY = --target fuzzers
build-%:
	cmake --preset $* >/dev/null
	cmake --build $(if $(filter release,$*),build,build/$*) $(ONLY) -- --quiet

test: ## build for release and run its tests
	tools/setup.sh build check
	$(MAKE) --no-print-directory build-release
	$(CTEST) build

check: ## everything: gcc and clang, sanitizers, all tests and checks
	tools/setup.sh build check
	$(MAKE) --no-print-directory build-release
	$(MAKE) --no-print-directory build-clang
	$(MAKE) --no-print-directory build-tsan
	$(CTEST) build/tsan -L threads
	$(MAKE) --no-print-directory build-asan
	$(CTEST) build/asan -E golden
	$(CTEST) build

check-long: check ## check, then golden cases under sanitizers, real data (CULL_DATA), fuzz targets
	CULL_LONG=1 $(CTEST) build -R float_golden
	$(CTEST) build/asan -R golden
	/usr/bin/python3 tests/long/run.py --cull build/cull
	$(MAKE) --no-print-directory fuzz

install: all ## install under PREFIX (/usr/local), below DESTDIR if that is set
	cmake --install build --prefix $(PREFIX)
	@echo "$(PREFIX)/bin/cull finds its library and recipes by itself; begin with $(PREFIX)/bin/cull doctor."
	@echo "Other programs find libcull after ldconfig, as root, or with LD_LIBRARY_PATH=$(PREFIX)/lib."

check-gpu: ## the tests that look at this machine's GPU, skipped where there is none
	tools/setup.sh build check
	$(MAKE) --no-print-directory build-release
	CULL_MODULES=$(CURDIR)/build $(CTEST) build -L gpu

bench: ## run the benchmarks; each prints one JSON line a case
	tools/setup.sh build bench
	$(MAKE) --no-print-directory build-release
	tools/bench.sh build

fuzz: ## run every fuzz target for FUZZ_SECONDS (60) each
	tools/setup.sh build fuzz
	$(MAKE) --no-print-directory build-fuzz
	tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

demo: all ## train LeNet on Fashion-MNIST, then ask the referee which selection pays there; leaves a page
	tools/setup.sh demo
	rm -rf build/demo
	build/cull train recipes/lenet-fashion.yaml --out build/demo/full
	build/cull compare recipes/demo-fashion.yaml --keep 0.1,0.3 --seeds 3 --threads 1 --jobs 2 \
	    --strategies 'random,sb,sb remembered,gradmatch,grad-match period=1' --out build/demo/compare
	build/cull report build/demo/compare -o build/demo/report.html

docs: build-release ## print docs/strategies.md, docs/recipes.md and python/src/cull/_abi.py anew from the code
	build/tools/strategy_docs > docs/strategies.md
	build/tools/recipe_docs > docs/recipes.md
	/usr/bin/python3 tools/abi.py include/cull.h > python/src/cull/_abi.py

format: ## lay the sources out as .clang-format says
	tools/check_format.sh --fix

clean: ## remove build/
	rm -rf build

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
