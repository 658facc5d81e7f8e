#!/usr/bin/env bash
# Installs what is missing to build and use cull, to check, demonstrate, bench or fuzz it, and names it before it does.
#
#     tools/setup.sh [build|check|demo|bench|fuzz]...
#
# On Debian and its relatives, as root, missing packages are installed with apt-get. Elsewhere it
# says what is wanted and goes on: the build then names what it does not find.
set -euo pipefail

declare -A packages=(
    [build]="gcc libc6-dev make cmake ninja-build pkgconf zlib1g-dev libzstd-dev libjpeg-dev libpng-dev libwebp-dev libyaml-dev libjansson-dev libcmocka-dev libmatio-dev libdnnl-dev libutf8proc-dev gnuplot-nox"
    [check]="locales dataset-fashion-mnist g++ clang clang-format clang-tidy binutils python3 python3-numpy python3-venv python3-torch chromium zsh fish groff-base"
    [bench]="python3 python3-numpy python3-sklearn python3-torch"
    [demo]="dataset-fashion-mnist"
    [fuzz]="clang libclang-rt-dev"
)

wanted=()
for group in "${@:-build}"; do
    if [[ -z "${packages[$group]:-}" ]]; then
        echo "setup: no group '$group'; there are: ${!packages[*]}" >&2
        exit 2
    fi
    read -ra names <<<"${packages[$group]}"
    wanted+=("${names[@]}")
done

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; what is needed, by Debian's names: ${wanted[*]}"
    exit 0
fi

missing=()
for package in "${wanted[@]}"; do
    state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [[ $state == "install ok installed" ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
    exit 0
fi

if [[ $(id -u) -ne 0 ]]; then
    echo "setup: missing: ${missing[*]}"
    echo "setup: not root, so nothing is installed; run: sudo apt-get install ${missing[*]}"
    exit 0
fi

echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update -q && apt-get install -y -q --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
    cat "$log" >&2
    echo "setup: apt-get failed; install these by hand: ${missing[*]}" >&2
    exit 1
fi
