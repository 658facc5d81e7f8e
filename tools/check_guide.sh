#!/usr/bin/env bash
# Compiles and runs the programs of docs/guide.md, and compares what they print with the page.
#
#     tools/check_guide.sh SOURCE_DIR BUILD_DIR
#
# A program is a C block; the block behind it is its output, in which numbers may differ (their last
# digits depend on the processor) and words may not. The first program has at most 40 lines that are
# not blank.
set -euo pipefail
source=$1
build=$2
page=$source/docs/guide.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "guide: $1" >&2
    exit 1
}

# Blocks 1, 2, ... of the page: program N is block 2N-1, its output block 2N.
block() {
    awk -v wanted="$1" '/^```/ {inside = !inside; number += inside; next}
                        inside && number == wanted' "$page"
}

words() {
    sed -E 's/[0-9]+(\.[0-9]+)?/#/g' "$1"
}

programs=$(grep -c '^```c$' "$page")
[[ $programs -ge 2 ]] || fail "the page has $programs programs"
[[ $(block 1 | grep -c .) -le 40 ]] || fail "the first program is longer than 40 lines"
for ((n = 1; n <= programs; n++)); do
    block $((2 * n - 1)) >"$work/$n.c"
    block $((2 * n)) >"$work/$n.expected"
    "${CC:-cc}" -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$source/include" "$work/$n.c" \
        -L "$build" -lcull -Wl,-rpath,"$build" -o "$work/program$n"
    mkdir "$work/$n"
    # Twice: the second time there is a run to go on with.
    for time in first second; do
        (cd "$work/$n" && "$work/program$n") >"$work/$n.out" || fail "program $n fails the $time time"
        diff <(words "$work/$n.expected") <(words "$work/$n.out") >&2 ||
            fail "program $n prints something else than the page"
    done
done
echo "$programs programs compiled and run"
