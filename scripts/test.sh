#!/usr/bin/env bash
# Runs every test of the project and ends with one line of totals.
cd "$(dirname "$0")/.." && exec .venv/bin/python scripts/run_tests.py "$@"
