#!/usr/bin/env bash
# Fails when a source file is not laid out as .clang-format says; `make format` puts it right.
#
#     tools/check_format.sh [--fix]
#
# Versions of clang-format lay some code out differently: version 14 decides (Debian 12's). Where there
# is another, nothing is checked, which is said (exit status 77: skipped).
set -euo pipefail
cd "$(dirname "$0")/.."
version=14
format=$(command -v clang-format-$version || command -v clang-format || true)
found=$([[ -z $format ]] || "$format" --version | sed -E 's/.*version ([0-9]+)\..*/\1/')
if [[ $found != "$version" ]]; then
    echo "format: not checked: clang-format $version decides, here is ${found:-none}"
    exit 77
fi
action=(--dry-run -Werror)
[[ ${1:-} == --fix ]] && action=(-i)
find include src programs tests bench examples tools -name '*.[ch]' -print0 |
    xargs -0 "$format" --style=file "${action[@]}"
