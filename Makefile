# make demo    set up, build, and run the main job on a small embedded data set
# make test    set up, build, and run every test
# make build   build/tamis, and .venv with what the tests and benchmarks use
# make check   format, tidy, order of the rooms, sanitizers, short fuzzing
# make bench   kernels, against a plain NumPy version, library calls and scikit-feature (the last takes minutes)
# make format  rewrite the sources in the house format
.PHONY: demo build test check bench format clean native
.PHONY: test-native test-command check-format check-rooms check-tidy check-asan check-tsan check-fuzz
.DEFAULT_GOAL := build
.NOTPARALLEL:

PYTHON := .venv/bin/python
FUZZ_SECONDS ?= 15
CONFIGURE = cmake --preset $(1) >/dev/null

demo:
	@tools/setup build
	@$(call CONFIGURE,release)
	@cmake --build --preset release --target tamis
	build/tamis demo

build:
	@tools/setup test
	@$(MAKE) --no-print-directory native

native:
	@$(call CONFIGURE,release)
	@cmake --build --preset release

test: build test-native test-command

test-native:
	ctest --preset release

test-command:
	$(PYTHON) -m pytest -q tests/command

check:
	@tools/setup check
	@$(MAKE) --no-print-directory check-format check-rooms check-tidy check-asan check-tsan check-fuzz

check-format:
	tools/check_format

check-rooms:
	tools/check_rooms

check-tidy:
	@$(call CONFIGURE,release)
	tools/check_tidy build

check-asan:
	@$(call CONFIGURE,asan)
	@cmake --build --preset asan
	tools/sanitized ctest --preset asan
	TAMIS_COMMAND=build-asan/tamis tools/sanitized $(PYTHON) -m pytest -q tests/command -m hostile

check-tsan:
	@$(call CONFIGURE,tsan)
	@cmake --build --preset tsan
	tools/sanitized ctest --preset tsan

check-fuzz:
	@$(call CONFIGURE,asan)
	@cmake --build --preset asan
	tools/check_fuzz build-asan/fuzz $(FUZZ_SECONDS)

bench:
	@tools/setup bench
	@$(call CONFIGURE,bench)
	@cmake --build --preset bench
	build/kernels_bench
	$(PYTHON) bench/against_plain.py
	$(PYTHON) bench/shapes.py
	$(PYTHON) bench/rivals.py

format:
	tools/check_format --fix

clean:
	rm -rf build build-dev build-asan build-tsan
