# A thin front for CMake. `make bench` on a fresh Debian 12 or Ubuntu 24.04 installs, builds, verifies and measures.
PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := build/$(PRESET)

.PHONY: build bench test test-metal setup format docs check-format check-layers clean
.DEFAULT_GOAL := build

build: $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS) --target product
	ln -sfn $(BUILD)/tile tile

$(BUILD)/build.ninja: CMakePresets.json $(wildcard build/packages.stamp)
	@command -v cmake >/dev/null && command -v ninja >/dev/null || { echo "make: cmake or ninja is missing; run 'make setup'" >&2; exit 1; }
	cmake --preset $(PRESET)
	@touch $@

bench:
	tools/setup.sh
	$(MAKE) build
	./tile bench --quick

test:
	tools/setup.sh
	$(MAKE) build
	cmake --build $(BUILD) -j $(JOBS)
	status=0; \
	ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS) --output-junit ctest.xml || status=1; \
	./tile test --json $(BUILD)/test.jsonl || status=1; \
	if ./tile device --no-measure | grep -q 'clang 19 is not here'; then \
	  echo "make test: NO METAL TEXT WAS RUN: clang-19 is missing; apt-get install clang-19" >&2; \
	fi; \
	test -e build/metal-cpp/Metal/Metal.hpp || grep -q '^MT_METAL_CPP:PATH=.' $(BUILD)/CMakeCache.txt || \
	  echo "make test: THE CALLS OF THE METAL DEVICE WERE NOT COMPILED AND NOT TESTED: metal-cpp is missing; tools/setup.sh --dev fetches it" >&2; \
	exit $$status

# The tests above run some kernels as Metal text; this runs all of them, which takes as long again.
test-metal: build
	./tile test --device metal-host --json $(BUILD)/test-metal-host.jsonl

setup:
	tools/setup.sh --dev

format:
	tools/format.sh

docs: build
	cmake --build $(BUILD) -j $(JOBS)
	PRESET=$(PRESET) tools/gen_docs.sh

check-format:
	tools/format.sh --check

check-layers:
	python3 tools/check_layers.py

clean:
	rm -rf build tile
