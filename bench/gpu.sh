#!/usr/bin/env bash
# Everything that wants a GPU: tests, the sanitizers of CUDA, times, PyTorch's beside them.
#
#     bench/gpu.sh [PART]...      data facts steps ways norms layers solvers tests python failures peer
#                                 sanitize train bars   (all of them)
#     bench/gpu.sh visit N        one of four calls that take up to ten minutes each, in this order:
#                                 times; tests, Python; solvers, failures, PyTorch; training, sanitizers
#
# Builds here where that can be, or takes build/carry.tar.xz, which tools/carry.sh made elsewhere; what was
# unpacked once is used again where it is not carried again. What is said goes to build/gpu, a log for each
# part, all of them as one file to $OUT where that is given, and the end of each to the screen; `bars` holds
# them against what the project aims at. Each part has so many seconds (LIMIT_part=...), a visit 570
# (SECONDS_IN_ALL), and what was not come to is said. Tests run JOBS (8) at a time and keep ways of their
# own, as what they time is disturbed; all else has the device alone.
#
# data: what lies in build/data is moved to CULL_DATA, so that a set may come in several visits; where
# build/data/unpack is a program, it is run there: unpack CULL_DATA cifar10. train: SEEDS (1 2 3 4 5) of the
# recipe for CIFAR-10. Without a GPU every part says that it is skipped, having looked for what it needs.
set -uo pipefail
cd "$(dirname "$0")/.."
all="data facts steps ways norms layers solvers tests python failures peer sanitize train bars"
[[ ${1:-} == visit ]] && : "${SECONDS_IN_ALL:=570}"
case "${1:-} ${2:-}" in
    "visit 1") set -- data facts steps ways norms bars ;;
    "visit 2") set -- data facts tests python bars ;;
    "visit 3") set -- data facts solvers failures peer layers bars ;;
    "visit 4") set -- data facts train sanitize bars ;;
    "visit "*) echo "gpu: visits are 1 to 4" >&2; exit 2 ;;
esac
parts=${*:-$all}
for part in $parts; do
    [[ " $all " == *" $part "* ]] || { echo "gpu: no part '$part'; there are: $all" >&2; exit 2; }
done
out=build/gpu
mkdir -p "$out"

# ---- what is run: carried, or built here ----

root=${CARRIED:-/tmp/cull-carried}
if [[ -f build/carry.tar.xz ]]; then
    rm -rf "$root" && mkdir -p "$root" && tar -xJf build/carry.tar.xz -C "$root" || exit 1
fi
if [[ -f $root/commit && ! -f build/CMakeCache.txt ]]; then
    bin=$root/bin programs=$root/bin lib=$root/lib recipes=$root/recipes commit=$(cat "$root/commit")
    export LD_LIBRARY_PATH=$lib:${LD_LIBRARY_PATH:-} CULL_GOLDEN=$root/tests/golden PATH=$root/bin:$PATH
    tests=$(cat "$root/programs.txt")
else
    make all && cmake --build build || exit 1
    bin=build programs=build/bench lib=$PWD/build recipes=recipes commit=$(git rev-parse --short HEAD)
    tests=$(ctest --test-dir build -N -L gpu | sed -n 's/^ *Test *#[0-9]*: \(.*\)_gpu$/\1/p')
fi
export CULL_MODULES=$lib CULL_DATA=${CULL_DATA:-/tmp/cull-data}
for folder in /usr/local/cuda/lib64 /usr/lib/x86_64-linux-gnu; do
    [[ -e $folder/libcudnn.so.9 ]] && found=$folder
done
if [[ -z ${found:-} ]]; then # PyTorch brings its own
    found=$(${PYTHON:-python3} -c 'import nvidia.cudnn, os; print(os.path.dirname(nvidia.cudnn.__file__ or list(nvidia.cudnn.__path__)[0] + "/x") + "/lib")' 2>/dev/null)
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:$found
fi
gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -1)

# ---- parts ----

# So many seconds, or what is left.
within() {
    local left=$((${SECONDS_IN_ALL:-86400} - SECONDS))
    echo $(($1 < left ? $1 : left))
}
# say PART SECONDS LINES COMMAND...: a log of its own, and its end on the screen. A part that has not
# ended by then is ended, and what it had said by then stays.
say() {
    local name=$1 limit=LIMIT_${1%%-*} lines=$3 begin=$SECONDS end
    limit=$(within "${!limit:-$2}")
    shift 3
    echo "== $name"
    if [[ $limit -lt 5 ]]; then
        echo "   NOT DONE: no time is left"
        return
    fi
    timeout -k 10 "$limit" "$@" >"$out/$name.log" 2>&1
    end=$?
    tail -n "$lines" "$out/$name.log"
    case $end in
        0) echo "   $((SECONDS - begin)) s" ;;
        124 | 137) echo "   NOT DONE: ended after its $limit s" ;;
        *) echo "   FAILED with $end after $((SECONDS - begin)) s" ;;
    esac
}
# Without a device: are the programs there, and do they begin?
lacks_gpu() {
    [[ -n $gpu ]] && return 1
    echo "== $1: skipped, no GPU here"
    shift
    for program in "$@"; do
        [[ -x $program || -f $program ]] || echo "   MISSING: $program"
    done
}
bench() { # NAME SECONDS LINES [VARIABLE=VALUE]... PROGRAM ARGUMENT...
    local name=$1 seconds=$2 lines=$3
    shift 3
    say "$name" "$seconds" "$lines" env "$@"
}

part_data() {
    local set=${CULL_DATA} kept=$CULL_DATA/parts
    if [[ -d build/data ]]; then
        mkdir -p "$kept" && cp -r build/data/. "$kept/" && rm -rf build/data
    fi
    if [[ -x $kept/unpack ]] && ! ${PYTHON:-python3} "$kept/unpack" "$set" cifar10 >"$out/data.log" 2>&1; then
        echo "== data: not whole yet ($(tail -1 "$out/data.log"))"
    elif [[ -d $kept && ! -x $kept/unpack ]]; then
        cp -r "$kept/." "$set/" && rm -rf "$kept"
    fi
    [[ -f $set/cifar-10-batches-bin/test_batch.bin ]] && echo "== data: CIFAR-10 is in $set"
}
part_facts() {
    echo "== ${gpu:-no GPU here: what wants one is skipped}"
    echo "   commit $commit, $(nvcc --version 2>/dev/null | tail -1 || true), cuDNN in ${found:-nowhere}"
    {
        date -u +"%F %T"
        echo "$commit; $gpu; cuDNN in ${found:-nowhere}"
    } >>"$out/facts.log"
}
matched="full,sb reuse .1,sb reuse .3,sb reuse .5,gradmatch reuse .1,gradmatch reuse .3,gradmatch reuse .5"
told="full,sb remembered .1,sb remembered .3,sb remembered .5,sb reuse .1,sb reuse .3,sb reuse .5"
part_steps() {
    local step=$programs/bench_device_step
    lacks_gpu steps "$step" && return
    bench steps 150 20 STEPS_EACH="${STEPS:-150}" "$step" cuda train.precision=bfloat16
    bench steps-matched 60 8 STEPS_EACH=400 CASES="$matched" "$step" cuda train.precision=bfloat16
    bench steps-512 120 20 STEPS_EACH=60 "$step" cuda train.precision=bfloat16 train.batch=512
    bench steps-wrn 60 2 STEPS_EACH=150 CASES=full "$step" cuda train.precision=bfloat16 model.name=wrn-16-4
}
# The same with one thing otherwise: what each is worth.
part_ways() {
    local step=$programs/bench_device_step way
    lacks_gpu ways "$step" && return
    for way in CULL_CUDA_EARLY=1 CULL_CUDA_TOGETHER=grid CULL_CUDA_BESIDE=gradients CULL_CUDA_BESIDE=0; do
        bench "ways-$way" 45 8 STEPS_EACH=100 "$way" CASES="$told" "$step" cuda train.precision=bfloat16
    done
}
part_norms() {
    local norm=$programs/bench_device_norm way
    lacks_gpu norms "$norm" && return
    for way in CULL_CUDA_EARLY=0 CULL_CUDA_EARLY=1 CULL_CUDA_TOGETHER=grid; do
        bench "norms-$way" 40 10 $way "$norm" cuda 12 38 64 128
    done
}
part_layers() {
    lacks_gpu layers "$programs"/bench_device_{layers,ops} && return
    bench layers 100 14 "$programs/bench_device_layers" cuda
    bench ops 40 24 "$programs/bench_device_ops" cuda
}
part_solvers() {
    lacks_gpu solvers "$programs"/bench_device_{match,pool} && return
    bench match 90 40 "$programs/bench_device_match" cuda
    bench pool-cifar 60 4 "$programs/bench_device_pool" cuda cifar
    bench pool-imagenet 240 4 "$programs/bench_device_pool" cuda imagenet
}

# One test's program; its log joins the others' when it is done.
try_test() {
    local program=$programs/$1 begin=$SECONDS log
    [[ -x $program ]] || program=build/tests/$1
    log=$(mktemp)
    CULL_CUDA_CACHE=$log.ways CULL_TEST_ON=cuda timeout "${LIMIT:-300}" "$program" >"$log" 2>&1
    local end=$?
    {
        flock 9
        echo "== $1 ended with $end after $((SECONDS - begin)) s"
        cat "$log"
    } 9>"$out/.lock" >>"$out/tests.log"
    if [[ $end -ne 0 && $end -ne 77 ]]; then
        echo "== $1 ended with $end"
        grep -vE '^\[ +(RUN|OK) +\]' "$log" | head -"${SHOW:-25}"
    fi
    rm -f "$log" "$log.ways"
}
part_tests() {
    echo "== tests"
    rm -f "$out/tests.log"
    export programs out
    export -f try_test
    local limit=$(within "${LIMIT_tests:-420}")
    timeout -k 10 "$limit" xargs -P "${JOBS:-8}" -I{} bash -c 'try_test {}' <<<"$tests"
    local end=$?
    [[ $end -ne 124 && $end -ne 137 ]] || echo "   NOT DONE: ended after its $limit s"
    echo "   $(grep -c '^== .* with 0 ' "$out/tests.log") passed, $(grep -c '^== .* with 77 ' "$out/tests.log")" \
        "skipped, of $(wc -w <<<"$tests")"
    rm -f "$out/.lock"
}
# The package as it lies in the tree, over the libraries here.
part_python() {
    export CULL_SELECT_LIBRARY=$(ls "$lib"/libcull_select.so* | head -1) PYTHONPATH=python/src:python/tests_torch
    say python 120 30 ${PYTHON:-python3} -m unittest -v test_cuda
    lacks_gpu python-step bench/gpu_python.py || say python-step 60 12 ${PYTHON:-python3} bench/gpu_python.py
}
part_failures() {
    lacks_gpu failures "$bin/cull" bench/gpu_failures.sh && return
    say failures 150 30 bash bench/gpu_failures.sh "$bin/cull" "$recipes"
}
part_peer() {
    lacks_gpu peer bench/gpu_vs_pytorch.py && return
    say peer 150 40 ${PYTHON:-python3} bench/gpu_vs_pytorch.py ${PEER:---quick --batch 128,512 --model resnet18,wrn-16-4}
}
part_sanitize() {
    lacks_gpu sanitize "$(command -v compute-sanitizer || echo compute-sanitizer)" && return
    for tool in memcheck racecheck synccheck initcheck; do
        for name in ${SANITIZE:-test_choose test_layers_norm test_match test_step_ops}; do
            local program=$programs/$name
            [[ -x $program ]] || program=build/tests/$name
            say "sanitize-$tool-$name" 45 3 env CULL_TEST_ON=cuda compute-sanitizer --tool "$tool" \
                --error-exitcode 9 "$program"
        done
    done
}
# Whole processes of the program: the accuracy at the end, and the seconds from start to end.
train_seeds() {
    local seed begin
    for seed in ${SEEDS:-1 2 3 4 5}; do
        begin=$(date +%s.%N)
        "$bin/cull" train "$recipes/resnet18-cifar10-cuda.yaml" train.seed="$seed" ${TRAIN:-} --json \
            --out "/tmp/cull-gpu-train/$seed" >"$out/train-$seed.json" || return 1
        "${PYTHON:-python3}" - "$out/train-$seed.json" "$seed" "$begin" <<'PY'
import json, sys, time
run = json.load(open(sys.argv[1]))
print(json.dumps({"bench": "train", "seed": int(sys.argv[2]), "seconds": round(time.time() - float(sys.argv[3]), 2),
                  **{k: v for k, v in run.items() if isinstance(v, (int, float)) and "accuracy" in k}}), flush=True)
PY
        rm -rf "/tmp/cull-gpu-train/$seed"
    done
}
part_train() {
    lacks_gpu train "$recipes/resnet18-cifar10-cuda.yaml" && return
    if [[ ! -f $CULL_DATA/cifar-10-batches-bin/test_batch.bin ]]; then
        echo "== train: skipped, CIFAR-10 is not in $CULL_DATA"
        return
    fi
    export bin recipes out
    export -f train_seeds
    say train 360 8 bash -c train_seeds
}
part_bars() { ${PYTHON:-python3} bench/gpu_bars.py "$out"; }

for part in $parts; do
    "part_$part"
    [[ -z ${OUT:-} ]] || tar -czf "$OUT/gpu-logs.tar.gz" -C "$out" .
done
