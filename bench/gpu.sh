#!/usr/bin/env bash
# Everything that wants a GPU, in one go: tests, the sanitizers of CUDA, times, PyTorch's beside them.
#
#     bench/gpu.sh [PART]...      facts tests steps layers solvers sanitize train peer (all of them)
#
# Builds here where that can be, or takes build/carry.tar.xz, which tools/carry.sh made elsewhere. What
# is said goes to $OUT (build/gpu) as a log for each part, and its end to the screen. Tests run JOBS (8)
# at a time and keep ways of their own, as what they time is disturbed; all else has the device alone.
# train: SEEDS (1 2 3 4 5) of the recipe for CIFAR-10, in CULL_DATA; what lies in build/data is moved
# there first, so that a set may come in several visits.
set -uo pipefail
cd "$(dirname "$0")/.."
parts=("${@:-facts tests steps layers solvers sanitize train peer}")
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
# One test's program; its log joins the others' when it is done.
try_test() {
    local program=$bin/$1 begin=$SECONDS log
    [[ -x $program ]] || program=build/tests/$1
    log=$(mktemp)
    CULL_CUDA_CACHE=$log.ways CULL_TEST_ON=cuda timeout "${LIMIT:-300}" "$program" >"$log" 2>&1
    local end=$?
    {
        flock 9
        echo "== $1 ended with $end after $((SECONDS - begin)) s"
        cat "$log"
    } 9>"$out/.lock" >>"$out/tests.log"
    if [[ $end -ne 0 ]]; then
        echo "== $1 ended with $end"
        grep -vE '^\[ +(RUN|OK) +\]' "$log" | head -"${SHOW:-25}"
    fi
    rm -f "$log" "$log.ways"
}
if wants tests; then
    export bin out
    export -f try_test
    rm -f "$out/tests.log"
    xargs -P "${JOBS:-8}" -I{} bash -c 'try_test {}' <<<"$tests"
    echo "$(grep -c '^== .* with 0 ' "$out/tests.log") passed of $(wc -w <<<"$tests")"
    rm -f "$out/.lock"
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
# Whole processes of the program: the accuracy at the end, and the seconds from start to end.
train_seeds() {
    local cull=$bin/../bin/cull recipes=$root/recipes seed begin
    [[ -x $cull ]] || cull=build/cull recipes=recipes
    for seed in ${SEEDS:-1 2 3 4 5}; do
        begin=$(date +%s.%N)
        "$cull" train "$recipes/resnet18-cifar10-cuda.yaml" train.seed="$seed" ${TRAIN:-} --json \
            --out "/tmp/cull-gpu-train/$seed" >"$out/train-$seed.json" || return 1
        python3 - "$out/train-$seed.json" "$seed" "$begin" <<'PY'
import json, sys, time
run = json.load(open(sys.argv[1]))
print(json.dumps({"seed": int(sys.argv[2]), "seconds": round(time.time() - float(sys.argv[3]), 2),
                  **{k: v for k, v in run.items() if isinstance(v, (int, float)) and "accuracy" in k}}))
PY
        rm -rf "/tmp/cull-gpu-train/$seed"
    done
}
export CULL_DATA=${CULL_DATA:-/tmp/cull-data}
if [[ -d build/data ]]; then
    mkdir -p "$CULL_DATA" && cp -r build/data/. "$CULL_DATA/" && rm -rf build/data
fi
if wants train; then
    say train 8 train_seeds
fi
if wants peer; then
    say peer 40 python3 bench/gpu_vs_pytorch.py ${PEER:---quick}
fi
