# SPDX-License-Identifier: Apache-2.0
# The newcomer's commands. `setup` alone installs; `demo` and the tests call it, the others say what is missing.

PREFIX ?= /usr/local
# The OpenCL that the demonstration runs on; scripts/run_with.sh lists them.
RUNTIME ?= pocl
# Groups of scripts/setup.sh that `make setup` installs.
SETUP ?= build
# Those that the tests need; without those behind "test" the tests of those are skipped.
TEST_SETUP ?= build test intel python site browser compilers tasks nodes lint

# Of `make test`: all but what is slow and repeats others.
TESTS ?= -LE repeat
# Of `make tidy`: all sources, or for example `--newest 24`.
TIDY ?=

run := scripts/run_with.sh $(RUNTIME)

.DEFAULT_GOAL := help
# Two targets at once would install the same packages.
.NOTPARALLEL:
.PHONY: help setup build tutorial quick test test-all ci sanitized demo install package site asan tsan test-mpich format check-format tidy clean

help:
	@echo 'make setup       install what `make build` needs (Debian and Ubuntu; elsewhere it says what is missing)'
	@echo 'make demo        build what it runs; overlapped Himeno on two ranks, and a slow file that hides behind kernels'
	@echo 'make test        build and run the whole test suite'
	@echo 'make test-all    the same, with tests that are slow and repeat others'
	@echo 'make ci          test, sanitized, and tidy of the sources changed last, in one; .ci/run runs the first'
	@echo 'make quick       build, and the tests of the label quick: under two minutes when all is built'
	@echo 'make build       release build: library in build/release/lib, programs in build/release/bin'
	@echo 'make tutorial    of that only what docs/tutorial.md uses, which is the quickest way to a first timeline'
	@echo 'make install     install library, headers, the program causeway, CMake package, pkg-config file (PREFIX=$(PREFIX))'
	@echo 'make package     Debian packages: build/packages/*.deb'
	@echo 'make site        the documentation as a site: build/site/index.html'
	@echo 'make sanitized   unit and fault tests built by Clang 19 with the address and undefined-behaviour sanitizers'
	@echo 'make asan        the test suite under the address and undefined-behaviour sanitizers'
	@echo 'make tsan        the test suite under the thread sanitizer'
	@echo 'make test-mpich  the test suite with MPICH'
	@echo 'make format      lay out the tree by .clang-format; make check-format only compares'
	@echo 'make tidy        clang-tidy over what build/release compiles, many minutes; fails if it finds something'
	@echo 'make clean       remove build/'
	@echo
	@echo 'Only setup, demo, test, test-all, ci, sanitized, asan, tsan, test-mpich, package and site install what is missing.'
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

test:
	@scripts/stage.sh set-up scripts/setup.sh $(TEST_SETUP)
	@scripts/stage.sh build scripts/build.sh release tests -D CAUSEWAY_WERROR=ON
	@scripts/stage.sh tests scripts/test.sh build/release $(TESTS)

# What a change should pass; continuous integration runs the test stage. All stages run, so that one run says all that is wrong.
ci:
	@failed=; \
	$(MAKE) --no-print-directory sanitized || failed="$$failed sanitized"; \
	$(MAKE) --no-print-directory test || failed="$$failed test"; \
	$(MAKE) --no-print-directory tidy TIDY='--newest 24' || failed="$$failed tidy"; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# Clang and the sanitizers in one build: a second compiler and what it finds at run time.
sanitized:
	@scripts/setup.sh build test sanitize
	@TARGET=sanitized scripts/stage.sh 'build by Clang, sanitized' scripts/build.sh clang tests
	@scripts/stage.sh 'sanitized tests' scripts/test.sh build/clang -L sanitized

test-all:
	@$(MAKE) --no-print-directory test TESTS=

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

test-mpich:
	@scripts/setup.sh $(TEST_SETUP) mpich
	@scripts/build.sh mpich tests
	@scripts/test.sh build/mpich

format:
	@scripts/format.sh

check-format:
	@scripts/format.sh --check

tidy:
	@scripts/stage.sh tidy scripts/tidy.sh $(TIDY)

clean:
	rm -rf build
