#!/usr/bin/env bash
# Packs a build for a machine that has a GPU and not what building takes.
#
#     tools/carry.sh BUILD OUT.tar.xz
#
# In the archive: bin/ (the program, benchmarks, the tests that know the backend cuda), lib/ (our
# libraries and all they need but the C library and CUDA's own), tests/golden and recipes. bench/gpu.sh
# unpacks and uses it. A build without oneDNN (-DCULL_CUDA=ON -DCULL_DNNL=OFF) is the smaller; CARRY_DNNL=1 takes
# oneDNN along. CARRY_TOOLS names programs of this machine that are wanted there too, with their libraries
# ("djxl", for pictures that travel as JPEG XL).
set -euo pipefail
build=$(realpath "$1") out=$(realpath -m "$2")
top=$(realpath "$(dirname "$0")/..")
if "$build/cull" train lenet-fashion train.backend=cuda --out /nonexistent/run 2>&1 | grep -q 'not built with'; then
    echo "carry: the module in $build is of another build than the program: build all of it" >&2
    exit 1
fi
if [[ -z ${CARRY_DNNL:-} ]] && ldd "$build/cull" | grep -q libdnnl; then
    echo "carry: $build needs oneDNN: build with -DCULL_DNNL=OFF, or take it along with CARRY_DNNL=1" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/lib"
cp "$build/cull" "$work/bin/"
cp "$build"/libcull.so.? "$build"/libcull_select.so.? "$build"/libcull_cuda*.so "$work/lib/"
for tool in ${CARRY_TOOLS:-}; do cp -L "$(command -v "$tool")" "$work/bin/"; done
for program in "$build"/bench/bench_device_*; do cp "$program" "$work/bin/"; done
ctest --test-dir "$build" -N -L gpu | sed -n 's/^ *Test *#[0-9]*: //p' >"$work/tests.txt"
while read -r name; do
    program=${name%_gpu}
    cp "$build/tests/$program" "$work/bin/"
    echo "$program"
done <"$work/tests.txt" | sort -u >"$work/programs.txt"
strip --strip-debug "$work"/bin/* "$work"/lib/*
for file in "$work"/bin/* "$work"/lib/*; do ldd "$file" 2>/dev/null || true; done |
    awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | while read -r library; do
    case $(basename "$library") in
        libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libcu* | libnv* | libcull*) ;;
        libdnnl.so.*) [[ -n ${CARRY_DNNL:-} ]] && cp -L "$library" "$work/lib/" ;;
        *) cp -L "$library" "$work/lib/" ;;
    esac
done
(cd "$top" && git rev-parse --short HEAD) >"$work/commit"
mkdir -p "$work/tests" "$work/recipes"
cp -r "$top/tests/golden" "$work/tests/"
cp -r "$top"/recipes/. "$work/recipes/"
tar -C "$work" -cf - . | xz -T0 -6 >"$out"
du -h "$out"
