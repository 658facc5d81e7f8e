#!/usr/bin/env bash
# Makes the wheel, installs it into a bare root of an older Debian, and runs the package's tests there.
#
#     tests/long/wheel.sh [SUITE]      bullseye: glibc 2.31, Python 3.9, numpy 1.19
#
# Needs root, debootstrap and a Debian mirror; the root stays in build/wheel for the next time. Tests
# that ask for torch, the program or a compiler are left out there.
set -euo pipefail
suite=${1:-bullseye}
root=$(cd "$(dirname "$0")/../.." && pwd)
bare=$root/build/wheel/$suite

if [[ $(id -u) -ne 0 ]] || ! command -v debootstrap >/dev/null; then
    echo "skipped: this needs root and debootstrap"
    exit 77
fi
"$root/tools/wheel.sh" "$root/build/wheel/dist" >/dev/null 2>&1 || { echo "wheel: tools/wheel.sh fails" >&2; exit 1; }
if [[ ! -e $bare/done ]]; then
    rm -rf "$bare"
    debootstrap --variant=minbase --include=python3-pip,python3-numpy "$suite" "$bare" >/dev/null
    touch "$bare/done"
fi
rm -rf "$bare/root/cull"
mkdir -p "$bare/root/cull/python"
cp -r "$root/python/tests" "$bare/root/cull/python/"
cp "$root"/build/wheel/dist/*.whl "$bare/root/cull/"
chroot "$bare" /bin/bash -c '
    cd /root/cull
    options=$(pip3 install --help | grep -o -- --break-system-packages | head -n 1)
    pip3 install -q --no-index --force-reinstall --no-deps $options ./*.whl 2>/dev/null
    cd python/tests
    python3 -c "import platform, numpy, cull
print(*platform.libc_ver(), \"Python\", platform.python_version(), \"numpy\", numpy.__version__, \"cull\", cull.__version__)
print(cull.select(\"gradmatch\", h=numpy.eye(20), p=numpy.eye(20), keep=0.3))"
    python3 -m unittest test_arrays.Numpy test_arrays.Refused test_selector test_solvers'
