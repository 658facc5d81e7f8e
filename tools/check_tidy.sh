#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy, over src/, several files at a time.
#
#     tools/check_tidy.sh BUILD_DIR [JOBS]
#
# The kernels are left out: they are compiled once per instruction set, which clang-tidy would read
# three times over; the compilers' warnings and the sanitizers look after them.
#
# Following every path through a function takes nearly all the time, most of it deep inside a few of
# them: clang's bound of 225000 states a function is lowered. Of 48 initialisers taken out one at a
# time, clang-tidy missed the same ones at either bound, in a sixth of the time.
set -euo pipefail
build=$(realpath "$1")
jobs=${2:-$(nproc)}
states=(-Xclang -analyzer-config -Xclang max-nodes=20000)
cd "$(dirname "$0")/.."
find src -name '*.c' ! -name 'kernels_*.c' -print0 | sort -z |
    xargs -0 -P "$jobs" -n 4 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option \
        "${states[@]/#/--extra-arg=}" 2> >(grep -v "warnings\\? generated\\.$" >&2)
