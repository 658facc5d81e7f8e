#!/usr/bin/env bash
# Runs every fuzz target for some seconds, starting from its corpus; new inputs stay in BUILD_DIR.
#
#     tools/fuzz.sh BUILD_DIR SECONDS
set -euo pipefail
build=$(realpath "$1")
seconds=$2
cd "$(dirname "$0")/.."
found=0
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    target=$(find "$build" -type f -name "$name" -perm -u+x | head -n 1)
    [[ -n $target ]] || { echo "fuzz: $name was not built" >&2; exit 1; }
    mkdir -p "$build/corpus/$name" "$build/crashes"
    corpus=("$build/corpus/$name")
    [[ -d tests/fuzz/corpus/${name#fuzz_} ]] && corpus+=("tests/fuzz/corpus/${name#fuzz_}")
    echo "fuzz: $name, $seconds s"
    "$target" -max_total_time="$seconds" -artifact_prefix="$build/crashes/$name-" \
        -print_final_stats=1 "${corpus[@]}" 2>"$build/$name.log" || {
        tail -n 40 "$build/$name.log" >&2
        echo "fuzz: $name failed; its input is in $build/crashes" >&2
        exit 1
    }
    grep -E 'number_of_executed_units|new_units_added' "$build/$name.log"
    found=$((found + 1))
done
echo "fuzz: $found targets, no crash"
