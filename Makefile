# make demo    set up, build, and run the main job on a small embedded data set; its page is tamis-demo/report.html
# make test    set up, build, and run every test
# make build   build/tamis, and .venv with the Python package and what the tests and benchmarks use
# make wheel   a wheel for other machines and the source distribution, in dist/
# make docs    the documentation as a site, build/docs/site/index.html, and in one file
# make check   format, lint, tidy, order of the rooms, random runs, sanitizers, short fuzzing
# make bench   limits of time on an idle machine; kernels; against a plain NumPy version, library calls,
#              scikit-feature, scikit-learn-intelex, pynndescent and faiss (takes minutes)
# make format  rewrite the sources in the house format
.PHONY: demo build test check bench wheel docs format clean native python
.PHONY: setup-test test-native test-tools test-command test-python test-page test-limits check-format check-rooms check-elsewhere check-tidy check-smith check-asan check-tsan check-fuzz
.DEFAULT_GOAL := build
.NOTPARALLEL:

PYTHON := .venv/bin/python
FUZZ_SECONDS ?= 5
SMITH_TABLES ?= 300

demo:
	@tools/setup build
	@tools/build release tamis
	build/tamis demo

build:
	@tools/setup python
	@$(MAKE) --no-print-directory native python

native:
	@tools/build release

# The module is linked to the libraries that `native` built, so that nothing is compiled twice.
python:
	@echo "build: the Python package"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
	    --config-settings=build-dir=build/python --config-settings=cmake.define.TAMIS_PREBUILT="$(CURDIR)/build" .

wheel:
	@tools/setup wheel
	@tools/build release tamis_app
	@tools/make_wheel

docs:
	@tools/setup docs
	@tools/build release tamis
	@$(MAKE) --no-print-directory python
	@$(PYTHON) tools/make_docs

test: setup-test build test-native test-tools test-command test-python test-page

setup-test:
	@tools/setup test

test-native:
	ctest --preset release

# What sets up a machine, in bad surroundings.
test-tools:
	$(PYTHON) -m pytest -q -n auto tests/tools

# One suite for both commands: the native one and the Python package's (which leaves out what both are compiled from;
# TAMIS_ALL=1 does not).
test-command:
	$(PYTHON) -m pytest -q -n auto tests/command
	TAMIS_COMMAND=.venv/bin/tamis $(PYTHON) -m pytest -q -n auto tests/command

test-python:
	$(PYTHON) -m pytest -q -n auto python/tests

# Report pages in Chromium; what they look like is kept in build/screenshots.
test-page:
	$(PYTHON) -m pytest -q -n auto tests/page

# What must happen within a given time on an idle machine; `make test` gives it ten times as long.
test-limits: setup-test build
	TAMIS_IDLE=1 $(PYTHON) -m pytest -q tests/page -k soon
	TAMIS_IDLE=1 $(PYTHON) -m pytest -q tests/command -k 'ctrl_c or interrupted'
	TAMIS_IDLE=1 $(PYTHON) -m pytest -q python/tests -k 'ctrl_c or overhead or import'

check:
	@tools/setup check
	@$(MAKE) --no-print-directory check-format check-rooms check-elsewhere check-tidy check-smith check-asan check-tsan check-fuzz

check-format:
	tools/check_format

check-rooms:
	tools/check_rooms

# That what is of Linux alone is guarded.
check-elsewhere:
	tools/check_elsewhere

check-tidy:
	@cmake --preset tidy >/dev/null
	tools/check_tidy build-tidy

# Random tables, methods, options and doors; SMITH_TABLES=5000 for more.
check-smith: build
	$(PYTHON) tests/smith/smith.py --tables $(SMITH_TABLES)

check-asan:
	@tools/build asan
	tools/sanitized ctest --preset asan
	TAMIS_COMMAND=build-asan/tamis tools/sanitized $(PYTHON) -m pytest -q -n auto tests/command -m hostile

check-tsan:
	@tools/build tsan
	tools/sanitized ctest --preset tsan

check-fuzz:
	@tools/build asan
	tools/check_fuzz build-asan/fuzz $(FUZZ_SECONDS)

bench: test-limits
	@tools/setup bench
	@tools/build bench
	build/kernels_bench
	$(PYTHON) bench/against_plain.py
	$(PYTHON) bench/shapes.py
	$(PYTHON) bench/rivals.py
	$(PYTHON) bench/anchors.py

format:
	tools/check_format --fix

clean:
	rm -rf dist build build-dev build-tidy build-asan build-tsan
