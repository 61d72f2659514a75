# A front for the CMake presets: `make help`. Variables: JOBS (parallel jobs), PRESET (of `make build`), SCENE (of
# `make view`), CMAKE_FLAGS (of the release build, which demo, view, test and bench share), MINUTES (of `make fuzz`).

JOBS   ?= $(shell nproc)
PRESET ?= release
DEMO   := assets/scenes/armadillo_drop.toml
SCENE  ?= $(DEMO)
MINUTES ?= 10
ABUT   := build/release/bin/abut

.DEFAULT_GOAL := help
.PHONY: help setup build demo view test test-all asan tsan tidy fuzz bench pictures clean

help:      ## this list
	@sed -nE 's/^([a-z-]+): .*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

setup:     ## install the missing Debian packages (root or sudo)
	@cmake/install_dependencies.sh

build: setup    ## configure and build PRESET (default: release)
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --parallel $(JOBS)

demo: setup     ## build the program, simulate two armadillos, check the gradient
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release --parallel $(JOBS) --target abut
	@mkdir -p out
	$(ABUT) run $(DEMO) --out out/armadillo_drop.npz
	$(ABUT) gradcheck $(DEMO)

view: setup     ## build the viewer and open it on SCENE (default: two armadillos)
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release --parallel $(JOBS) --target abut-view
	build/release/bin/abut-view $(SCENE)

test: setup     ## build the tests, then run every one; statistical ones draw a fifth of their samples
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release --parallel $(JOBS) --target abut_tests
	ctest --preset release --parallel $(JOBS)

test-all: setup    ## every test with all of its samples, and kernels for all instruction sets
	cmake --preset release $(CMAKE_FLAGS) -D ABUT_KERNEL_SETS=all
	cmake --build --preset release --parallel $(JOBS) --target abut_tests
	ctest --preset nightly --parallel $(JOBS)

asan: setup     ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
	cmake --workflow --preset asan

tsan: setup     ## everything that has threads, under ThreadSanitizer
	cmake --workflow --preset tsan

tidy: setup     ## clang-tidy over every source file
	cmake --workflow --preset tidy

fuzz: setup     ## fuzz every reader of files for MINUTES each (10), two at a time; needs clang
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS)
	MINUTES=$(MINUTES) tests/fuzz/run.sh build/fuzz/bin

bench: setup    ## build and run the benchmarks; results as JSON in out/
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release --parallel $(JOBS) --target abut_benchmarks
	@mkdir -p out
	build/release/bin/abut_benchmarks --benchmark_out=out/benchmarks.json \
	  --benchmark_context=commit=$$(git describe --always --dirty --exclude='*' 2>/dev/null || echo none)

pictures: setup    ## draw the pictures of docs/viewer.md and README.md again
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release --parallel $(JOBS) --target abut --target abut-view
	docs/make_viewer_pictures.sh build/release/bin/abut-view

clean:     ## remove what was built and written
	rm -rf build out
