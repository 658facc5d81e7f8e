#!/usr/bin/env bash
# Fails, and shows the difference, when a page in the repository is not what its program prints.
#
#     tools/check_stale.sh PAGE PROGRAM [ARGUMENT]...
set -euo pipefail
page=$1
shift
diff -u "$page" <("$@") || {
    echo "$page is stale: run 'make docs'" >&2
    exit 1
}
