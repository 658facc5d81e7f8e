#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy, over src/, several files at a time.
#
#     tools/check_tidy.sh BUILD_DIR [JOBS]
#
# The kernels are left out: they are compiled once per instruction set, which clang-tidy would read
# three times over; the compilers' warnings and the sanitizers look after them.
set -euo pipefail
build=$(realpath "$1")
jobs=${2:-$(nproc)}
cd "$(dirname "$0")/.."
find src -name '*.c' ! -name 'kernels_*.c' -print0 | sort -z |
    xargs -0 -P "$jobs" -n 4 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option \
        2> >(grep -v "warnings\\? generated\\.$" >&2)
