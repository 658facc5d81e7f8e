#!/usr/bin/env bash
# Everything that wants a GPU, in one go: tests, the sanitizers of CUDA, times, PyTorch's beside them.
#
#     bench/gpu.sh [PART]...          facts tests sanitize steps layers solvers peer (all of them)
#
# Builds here where that can be, or takes build/carry.tar.xz, which tools/carry.sh made elsewhere. What
# is said goes to $OUT (build/gpu) as logs, and a short table is printed last.
set -uo pipefail
cd "$(dirname "$0")/.."
parts=("${@:-facts tests sanitize steps layers solvers peer}")
[[ $# -gt 0 ]] || read -ra parts <<<"${parts[0]}"
out=${OUT:-build/gpu}
mkdir -p "$out"
if [[ -f build/carry.tar.xz ]]; then
    root=/tmp/cull-carried
    rm -rf "$root" && mkdir -p "$root" && tar -xJf build/carry.tar.xz -C "$root" || exit 1
    bin=$root/bin
    export LD_LIBRARY_PATH=$root/lib:${LD_LIBRARY_PATH:-} CULL_MODULES=$root/lib CULL_GOLDEN=$root/tests/golden
    commit=$(cat "$root/commit")
    tests=$(cat "$root/programs.txt")
else
    make all && cmake --build build || exit 1
    bin=build/bench
    export CULL_MODULES=$PWD/build
    commit=$(git rev-parse --short HEAD)
    tests=$(ctest --test-dir build -N -L gpu | sed -n 's/^ *Test *#[0-9]*: \(.*\)_gpu$/\1/p')
fi
for folder in /usr/local/cuda/lib64 /usr/lib/x86_64-linux-gnu; do
    [[ -e $folder/libcudnn.so.9 ]] && found=$folder
done
if [[ -z ${found:-} ]]; then # PyTorch brings its own
    found=$(python3 -c 'import nvidia.cudnn, os; print(os.path.dirname(nvidia.cudnn.__file__ or list(nvidia.cudnn.__path__)[0] + "/x") + "/lib")' 2>/dev/null)
    export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$found
fi
wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }
# A part's output goes to a log of its own, and its end to the screen.
say() {
    local name=$1 lines=$2
    shift 2
    echo "== $name"
    "$@" >"$out/$name.log" 2>&1
    local end=$?
    tail -n "$lines" "$out/$name.log"
    [[ $end -eq 0 ]] || echo "   ended with $end"
    return $end
}
if wants facts; then
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm --format=csv,noheader
    echo "commit $commit, $(nvcc --version | tail -1), cuDNN in $found"
fi
if wants tests; then
    passed=0 failed=()
    for name in $tests; do
        program=$bin/$name
        [[ -x $program ]] || program=build/tests/$name
        if CULL_TEST_ON=cuda "$program" >"$out/$name.log" 2>&1; then passed=$((passed + 1)); else failed+=("$name"); fi
    done
    for name in "${failed[@]}"; do
        echo "== $name failed"
        grep -vE '^\[ +(RUN|OK) +\]' "$out/$name.log" | head -"${SHOW:-25}"
    done
    echo "$passed passed, ${#failed[@]} failed"
fi
[[ -d $bin ]] && steps=$bin/bench_device_step || steps=build/bench/bench_device_step
if wants steps; then
    say steps 20 "$steps" cuda train.precision=bfloat16 ${KEYS:-}
fi
for part in layers solvers; do
    wants $part || continue
    for program in "$(dirname "$steps")"/bench_device_*; do
        name=$(basename "$program")
        case $part:$name in
            *:bench_device_step) ;;
            layers:bench_device_layers | layers:bench_device_norm | layers:bench_device_ops) say "$name" 40 "$program" cuda ;;
            solvers:bench_device_match | solvers:bench_device_pool) say "$name" 40 "$program" cuda ;;
        esac
    done
done
if wants sanitize; then
    for tool in memcheck synccheck racecheck initcheck; do
        for name in ${SANITIZE:-test_choose test_match test_step_ops}; do
            say "$tool-$name" 4 env CULL_TEST_ON=cuda compute-sanitizer --tool $tool --error-exitcode 9 "$bin/$name"
        done
    done
fi
if wants peer; then
    say peer 40 python3 bench/gpu_vs_pytorch.py ${PEER:---quick}
fi
