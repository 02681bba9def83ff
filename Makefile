# Every command of the project. The logic stands in scripts/; `make setup` runs first wherever it is needed.
.DEFAULT_GOAL := help
.PHONY: help setup race test lint format serve bench wheels check-aarch64 docs clean

help:    ## this list
	@sed -n 's/^\([a-z0-9-]*\): *[a-z]* *## /  make \1\t/p' Makefile

setup:   ## uv, .venv with the release core, tarmac-load, Debian packages
	@scripts/setup.sh

race: setup  ## race the stacks that are installed here: live table, then a report
	@.venv/bin/races

test: setup  ## every test: Rust, vectors, Python, live servers, browser
	@scripts/test.sh

lint: setup  ## formatting, clippy, ruff, mypy, stubs, file lengths
	@scripts/lint.sh

format: setup  ## let cargo fmt and ruff put everything in shape
	@cargo fmt --all
	@.venv/bin/ruff check --quiet --fix-only . ; .venv/bin/ruff format --quiet .

serve: setup  ## the voting site on http://127.0.0.1:8080/
	@.venv/bin/stickers -p 8080

bench: setup  ## the table of targets, measured on this machine
	@.venv/bin/python benchmarks/run.py

wheels: setup  ## a wheel for every Python >= 3.11 that is here, in dist/
	@scripts/wheels.sh

check-aarch64:  ## does every crate compile for 64-bit ARM?
	@scripts/check-aarch64.sh

docs: setup  ## the documentation as HTML in docs/_build/html
	@.venv/bin/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

clean:   ## everything that can be made again
	@rm -rf target .venv .venv-tools dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find python stickers races tests \( -name '*.so' -o -name '*.pyc' \) -delete
