#!/usr/bin/env bash
# Runs every benchmark, programs first, then the comparisons with other libraries.
#
#     tools/bench.sh BUILD_DIR
#
# PYTHON names the interpreter the comparisons run under (Debian's by default).
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/.."
for program in "$build"/bench/bench_*; do
    echo "# $(basename "$program")"
    "$program"
done
for script in bench/vs_*.py bench/python_overhead.py; do
    [[ -e $script ]] || continue
    echo "# $(basename "$script")"
    "${PYTHON:-/usr/bin/python3}" "$script"
done
