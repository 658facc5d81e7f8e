#!/usr/bin/env bash
# Fails when a source file is not laid out as .clang-format says; `make format` puts it right.
#
#     tools/check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/.."
action=(--dry-run -Werror)
[[ ${1:-} == --fix ]] && action=(-i)
find include src programs tests bench examples tools -name '*.[ch]' -print0 |
    xargs -0 clang-format --style=file "${action[@]}"
