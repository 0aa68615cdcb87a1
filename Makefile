# SPDX-License-Identifier: Apache-2.0
# The newcomer's commands. `setup` alone installs; `demo` and the tests call it, the others say what is missing.

PREFIX ?= /usr/local
# The OpenCL that the demonstration runs on; scripts/run_with.sh lists them.
RUNTIME ?= pocl
# Groups of scripts/setup.sh that `make setup` installs.
SETUP ?= build
# Those that the tests need; without those behind "test" the tests of those are skipped.
TEST_SETUP ?= build test intel python site browser compilers tasks nodes lint sanitize
# Of `make suite`: all but what is slow and repeats others.
TESTS ?= -LE repeat
# Of `make tidy`: nothing for all sources, or for example `--newest 24`.
TIDY ?=

run := scripts/run_with.sh $(RUNTIME)

.DEFAULT_GOAL := help
# Two targets at once would install the same packages.
.NOTPARALLEL:
.PHONY: help setup build tutorial quick test test-all suite sanitized demo install package site asan tsan test-clang test-mpich format check-format tidy clean

help:
	@echo 'make setup       install what `make build` needs (Debian and Ubuntu; elsewhere it says what is missing)'
	@echo 'make demo        build what it runs; overlapped Himeno on two ranks, and a slow file that hides behind kernels'
	@echo 'make test        both compilers, the suite, sanitized tests, clang-tidy of the newest sources: 40 minutes on two cores'
	@echo 'make suite       of that the build by g++ and its tests: 25 minutes'
	@echo 'make test-all    test of everything: repeats, the suite by Clang, under each sanitizer and with MPICH, tidy of all; hours'
	@echo 'make quick       build, and the tests of the label quick: under two minutes when all is built'
	@echo 'make build       release build: library in build/release/lib, programs in build/release/bin'
	@echo 'make tutorial    build only what docs/tutorial.md uses, the quickest way to a first timeline'
	@echo 'make install     install library, headers, the program causeway, CMake package, pkg-config file (PREFIX=$(PREFIX))'
	@echo 'make package     Debian packages: build/packages/*.deb'
	@echo 'make site        the documentation as a site: build/site/index.html'
	@echo 'make sanitized   unit and fault tests built by Clang 19 with the address and undefined-behaviour sanitizers'
	@echo 'make asan        the test suite under the address and undefined-behaviour sanitizers'
	@echo 'make tsan        the test suite under the thread sanitizer'
	@echo 'make test-clang  everything built by Clang 19, with warnings as errors, and the test suite'
	@echo 'make test-mpich  the test suite with MPICH'
	@echo 'make format      lay out the tree by .clang-format; make check-format only compares'
	@echo 'make tidy        clang-tidy over what build/release compiles, many minutes; fails if it finds something'
	@echo 'make clean       remove build/'
	@echo
	@echo 'Only setup, demo, test, test-all, suite, sanitized, asan, tsan, test-clang, test-mpich, package and site install what is missing.'
	@echo 'Variables: PREFIX, DESTDIR, JOBS (parallel compilations), RUNTIME (OpenCL of the demo: pocl, nvidia, system).'

setup:
	@scripts/setup.sh $(SETUP)

build:
	@scripts/setup.sh --check build
	@scripts/build.sh release no-tests

tutorial:
	@scripts/setup.sh --check build
	@TARGET=tutorial scripts/build.sh release no-tests

quick:
	@scripts/setup.sh --check build test
	@scripts/build.sh release tests
	@scripts/test.sh build/release -L quick

# What a change has to pass, and what continuous integration runs: two compilers, tests, sanitized tests and clang-tidy.
test:
	@TEST_SETUP="$(TEST_SETUP)" TIDY="$(or $(TIDY),--newest 24 --minutes 3)" scripts/stages.sh

test-all:
	@TEST_SETUP="$(TEST_SETUP) mpich" scripts/stages.sh all

suite:
	@scripts/setup.sh $(TEST_SETUP)
	@scripts/build.sh release tests -D CAUSEWAY_WERROR=ON -D CAUSEWAY_PRECOMPILE=ON
	@scripts/test.sh build/release $(TESTS)

# Clang and the sanitizers in one build: a second compiler and what it finds at run time.
sanitized:
	@scripts/setup.sh build test compilers tasks sanitize
	@TARGET=sanitized scripts/build.sh clang tests
	@scripts/test.sh build/clang -L sanitized

demo: setup
	@TARGET=demo scripts/build.sh release no-tests
	@scripts/demo.sh $(RUNTIME)

install: build
	cmake --install build/release --prefix "$$(realpath -m "$(PREFIX)")"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig; fi

package:
	@scripts/setup.sh build package
	@scripts/package.sh

site:
	@scripts/setup.sh site
	@scripts/site.sh

asan tsan:
	@scripts/setup.sh $(TEST_SETUP) sanitize
	@scripts/build.sh $@ tests
	@scripts/test.sh build/$@

test-clang:
	@scripts/setup.sh $(TEST_SETUP)
	@scripts/build.sh clang-release tests
	@scripts/test.sh build/clang-release $(TESTS)

test-mpich:
	@scripts/setup.sh $(TEST_SETUP) mpich
	@scripts/build.sh mpich tests
	@scripts/test.sh build/mpich

format:
	@scripts/format.sh

check-format:
	@scripts/format.sh --check

tidy:
	@scripts/tidy.sh $(TIDY)

clean:
	rm -rf build
