# SPDX-License-Identifier: Apache-2.0
# The newcomer's commands: each one installs what it needs, then calls CMake.

PREFIX ?= /usr/local
# The OpenCL that the demonstration runs on; scripts/run_with.sh lists them.
RUNTIME ?= pocl
# Groups of scripts/setup.sh that the tests need; without those behind "test" the tests of those are skipped.
TEST_SETUP ?= build test intel python site browser compilers tasks

run := scripts/run_with.sh $(RUNTIME)

.DEFAULT_GOAL := help
# Two targets at once would install the same packages.
.NOTPARALLEL:
.PHONY: help build tutorial test demo install package site asan tsan test-mpich clean

help:
	@echo 'make demo        build, run the Himeno benchmark on two ranks and stream a file through a kernel'
	@echo 'make test        build and run the whole test suite'
	@echo 'make build       release build: library in build/release/lib, programs in build/release/bin'
	@echo 'make tutorial    of that only what docs/tutorial.md uses, which is the quickest way to a first timeline'
	@echo 'make install     install library, headers, the program causeway, CMake package, pkg-config file (PREFIX=$(PREFIX))'
	@echo 'make package     Debian packages: build/packages/*.deb'
	@echo 'make site        the documentation as a site: build/site/index.html'
	@echo 'make asan        the test suite under the address and undefined-behaviour sanitizers'
	@echo 'make tsan        the test suite under the thread sanitizer'
	@echo 'make test-mpich  the test suite with MPICH'
	@echo 'make clean       remove build/'
	@echo
	@echo 'Each target first installs what is missing (Debian and Ubuntu; elsewhere it says what to install).'
	@echo 'Variables: PREFIX, DESTDIR, JOBS (parallel compilations), RUNTIME (OpenCL of the demo: pocl, nvidia, system).'

build:
	@scripts/setup.sh build
	@scripts/build.sh release no-tests

tutorial:
	@scripts/setup.sh build
	@TARGET=tutorial scripts/build.sh release no-tests

test:
	@scripts/setup.sh $(TEST_SETUP)
	@scripts/build.sh release tests
	@scripts/test.sh build/release

demo: build
	$(run) --ranks 2 -- build/release/bin/himeno --size M --iterations 30 --rounds 5 --version all --verify
	$(run) -- build/release/bin/stream --size-mib 256

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

clean:
	rm -rf build
