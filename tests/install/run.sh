#!/usr/bin/env bash
# Installs the build into an empty prefix and uses it from there, the ways a user would.
#
#     tests/install/run.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1
build=$2
here=$source/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c17 -Wall -Wextra -Wpedantic -Werror)

fail() {
    echo "install: $1" >&2
    exit 1
}

# The prefix may move: DESTDIR must hold the same files as a direct install.
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null
DESTDIR=$work/stage cmake --install "$build" --prefix /usr >/dev/null
diff <(cd "$prefix" && find . | sort) <(cd "$work/stage/usr" && find . | sort) ||
    fail "DESTDIR installs other files"

libdir=$(dirname "$(find "$prefix" -name libcull.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
unset DESTDIR

# A program's first lines of output from its standard input, built through pkg-config.
build_and_run() {
    local name=$1 module=$2
    cat >"$work/$name.c"
    # shellcheck disable=SC2046
    "${CC:-cc}" "${flags[@]}" "$work/$name.c" $(pkg-config --cflags --libs "$module") -o "$work/$name"
    "$work/$name" >"$work/$name.out" || fail "$name ($module) exits with $?"
    [[ -s $work/$name.out ]] || fail "$name ($module) prints nothing"
}

header_example() {
    sed -n '/^ \*     #include <cull.h>$/,/^ \*     }$/ {s/^ \*     //; s/^ \*$//; p}' \
        "$prefix/include/cull.h"
}

readme_example() {
    awk '/^```c$/ {on = 1; next} /^```$/ {if (on) exit} on' "$source/README.md"
}

header_example | build_and_run header_example cull
header_example | build_and_run header_example_small cull_select
[[ $(wc -l <"$work/header_example.out") -eq 38 ]] || fail "cull.h's program does not keep 38 of 128"
cmp "$work/header_example.out" "$work/header_example_small.out" ||
    fail "the two libraries choose differently"
readme_example | build_and_run readme_example cull
build_and_run lab_example cull <<'END'
#include <cull_lab.h>
#include <stdio.h>

int main(void)
{
    for (size_t i = 0; cull_reproduction_at(i); i++) puts(cull_reproduction_at(i)->name);
    return 0;
}
END

cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    cmake --build "$work/consumer" >>"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "a CMake project cannot use the package"
}
for target in cull cull_static select select_static; do
    "$work/consumer/use_$target" || fail "use_$target exits with $?"
done

# The program finds its library and recipes wherever it lies; shells and man find what is theirs.
mkdir "$work/elsewhere"
for root in "$prefix" "$work/stage/usr"; do
    (cd "$work/elsewhere" && env -u LD_LIBRARY_PATH "$root/bin/cull" train 2>&1 || true) >"$work/listed"
    grep -q "lie in $root/share/cull/recipes:" "$work/listed" || fail "recipes are not found in $root"
    grep -q "^  lenet-fashion.yaml " "$work/listed" || fail "recipes are not listed from $root"
done
for file in man/man1/cull.1 man/man1/cull-train.1 man/man5/cull-recipe.5 fish/vendor_completions.d/cull.fish \
    zsh/site-functions/_cull bash-completion/completions/cull doc/cull/README.md doc/cull/docs/formats.md; do
    [[ -s $prefix/share/$file ]] || fail "no $file"
done
for name in $(env -u LD_LIBRARY_PATH "$prefix/bin/cull" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    [[ -s $prefix/share/man/man1/cull-$name.1 ]] || fail "no page of cull $name"
done

env -u LD_LIBRARY_PATH "$prefix/bin/cull" --version >/dev/null || fail "the installed program fails"
env -u LD_LIBRARY_PATH "$work/stage/usr/bin/cull" --version >/dev/null ||
    fail "the staged program fails"
echo "installed, found by pkg-config and CMake, and run"
