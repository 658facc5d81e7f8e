#!/usr/bin/env bash
# Everything that wants a GPU: tests, the sanitizers of CUDA, times, PyTorch's beside them.
#
#     bench/gpu.sh [PART]...      data facts few steps ways sizes norms layers solvers imagenet tests
#                                 python failures peer sanitize train bars   (all of them)
#                                 text-steps text-train text-peer text-figure   (when they are named)
#     bench/gpu.sh visit N        one of four calls, which answer most first and take half an hour together:
#                                 1  450 s   tests of what a step is made of; times; what each of our
#                                            ways is worth; other sizes
#                                 2  390 s   Python, all tests
#                                 3  330 s   solvers, failures, PyTorch, the large pool
#                                 4  390 s   training, sanitizers
#
# Builds here where that can be, or takes build/carry.tar.xz, which tools/carry.sh made elsewhere; what was
# unpacked once is used again where it is not carried again. What is said goes to build/gpu, a log for each
# part, all of them as one file to $OUT where that is given, and the end of each to the screen; `bars` holds
# them against what the project aims at. Each part has so many seconds (LIMIT_part=...), a visit those above
# (SECONDS_IN_ALL), and what was not come to is said. Tests (TESTS names some) run JOBS (8) at a time and keep
# ways of their own, as what they time is disturbed; all else has the device alone.
#
# data: what lies in build/data is moved to CULL_DATA, so that a set may come in several visits; where
# build/data/unpack is a program, it is run there: unpack CULL_DATA cifar10. train: SEEDS (1 2 3 4 5) of the
# recipe for CIFAR-10. Without a GPU every part says that it is skipped, having looked for what it needs.
#
# The parts on texts read imdb/ and minilm/ in CULL_DATA, which come as pieces that tools/carry_text.sh made,
# one a visit, and are put together once the last is there:
#
#     text-steps   minutes 4   steps of 32 texts of 128 and 256 tokens: full, and `sb` and `gradmatch` at
#                              .1, .3 and .5, separate, reused, remembered; the same of PyTorch, eager,
#                              in a graph, in a graph of a compiled model
#     text-train   minutes 5   SEEDS (1 2 3) of recipes/imdb-minilm.yaml: accuracy, seconds
#     text-peer    minutes 6   the same three epochs by PyTorch (text_peer.py)
#     text-figure  minutes 9   `random`, `sb`, `gradmatch` at .1, .3 and .5 with their controls, SEEDS;
#                              the next visit goes on, from text-figure.tar in build/data
#
# TEXT holds further keys for ours, PEER_TEXT words for PyTorch's, as to try all of it on a processor:
#
#     BACKEND=cpu PRECISION=float32 TEXT='data.subset=0.001 train.epochs=1' SEEDS=1 \
#     PEER_TEXT='--device cpu --texts 16 --epochs 1' bench/gpu.sh text-train text-peer text-figure
set -uo pipefail
cd "$(dirname "$0")/.."
all="data facts few steps ways sizes norms layers solvers imagenet tests python failures peer sanitize train bars"
texts="text-steps text-train text-peer text-figure"
case "${1:-} ${2:-}" in
    "visit 1") : "${SECONDS_IN_ALL:=450}"; set -- data facts few steps ways sizes norms bars ;;
    "visit 2") : "${SECONDS_IN_ALL:=390}"; set -- data facts python tests bars ;;
    "visit 3") : "${SECONDS_IN_ALL:=330}"; set -- data facts solvers failures peer imagenet layers bars ;;
    "visit 4") : "${SECONDS_IN_ALL:=390}"; set -- data facts train sanitize bars ;;
    "visit "*) echo "gpu: visits are 1 to 4" >&2; exit 2 ;;
esac
parts=${*:-$all}
for part in $parts; do
    [[ " $all $texts " == *" $part "* ]] || { echo "gpu: no part '$part'; there are: $all $texts" >&2; exit 2; }
done
out=build/gpu
mkdir -p "$out"

# ---- what is run: carried, or built here ----

root=${CARRIED:-/tmp/cull-carried}
theirs=${LD_LIBRARY_PATH:-} # of programs that are not ours
if [[ -f build/carry.tar.xz ]]; then
    rm -rf "$root" && mkdir -p "$root" && tar -xJf build/carry.tar.xz -C "$root" || exit 1
fi
if [[ -f $root/commit && ! -f build/CMakeCache.txt ]]; then
    bin=$root/bin programs=$root/bin lib=$root/lib recipes=$root/recipes commit=$(cat "$root/commit")
    export LD_LIBRARY_PATH=$lib${theirs:+:$theirs} CULL_GOLDEN=$root/tests/golden PATH=$root/bin:$PATH
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
fi
for folder in $found /usr/local/cuda/lib64; do
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
done
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

# All pieces are there, and whole, or it is waited for the others.
join_texts() {
    if (cd "$CULL_DATA" && sha256sum --status -c text.sum 2>/dev/null); then
        cat "$CULL_DATA"/text-[0-9][0-9] | tar -C "$CULL_DATA" -xJf - && rm -f "$CULL_DATA"/text-[0-9][0-9]
        echo "== data: texts are in $CULL_DATA"
    else
        echo "== data: pieces of texts are missing, of $(wc -l <"$CULL_DATA/text.sum")"
    fi
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
    [[ ! -f $set/text.sum || -d $set/minilm ]] || join_texts
}
part_facts() {
    echo "== ${gpu:-no GPU here: what wants one is skipped}"
    echo "   commit $commit, $(nvcc --version 2>/dev/null | tail -1 || true), cuDNN in ${found:-nowhere}"
    {
        date -u +"%F %T"
        echo "$commit; $gpu; cuDNN in ${found:-nowhere}"
    } >>"$out/facts.log"
}
alone="full,random .3,sb separate .1,sb separate .3,sb separate .5,sb reuse .1,sb reuse .3,sb reuse .5,sb remembered .1,sb remembered .3,sb remembered .5"
matched="full,sb reuse .1,sb reuse .3,sb reuse .5,gradmatch reuse .1,gradmatch reuse .3,gradmatch reuse .5"
told="full,sb remembered .1,sb remembered .3,sb remembered .5,sb reuse .1,sb reuse .3,sb reuse .5"
part_steps() {
    local step=$programs/bench_device_step
    lacks_gpu steps "$step" && return
    bench steps 220 20 STEPS_EACH="${STEPS:-150}" CASES="$alone" "$step" cuda train.precision=bfloat16 # convolutions are timed first
    bench steps-matched 60 8 STEPS_EACH=400 CASES="$matched" "$step" cuda train.precision=bfloat16
}
part_sizes() {
    local step=$programs/bench_device_step
    lacks_gpu sizes "$step" && return
    bench steps-512 150 20 STEPS_EACH=60 CASES="$alone" "$step" cuda train.precision=bfloat16 train.batch=512
    bench steps-wrn 60 2 STEPS_EACH=150 CASES=full "$step" cuda train.precision=bfloat16 model.name=wrn-16-4
}
# The same with one thing otherwise, and first with none: what each is worth.
part_ways() {
    local step=$programs/bench_device_step way
    lacks_gpu ways "$step" && return
    for way in CULL_CUDA_EARLY=0 CULL_CUDA_PRIORITY=0 CULL_CUDA_BESIDE=gradients CULL_CUDA_TOGETHER=grid CULL_CUDA_EARLY=1 \
        CULL_CUDA_BESIDE=0; do
        bench "ways-$way" 45 1 STEPS_EACH=100 "$way" CASES="$told" "$step" cuda train.precision=bfloat16
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
}
part_imagenet() {
    lacks_gpu imagenet "$programs/bench_device_pool" && return
    bench pool-imagenet 240 4 "$programs/bench_device_pool" cuda imagenet
}

# One test's program; its log joins the others' when it is done.
try_test() {
    local program=$programs/$1 begin=$SECONDS log
    [[ -x $program ]] || program=build/tests/$1
    log=$(mktemp)
    CULL_CUDA_CACHE=$log.ways CULL_TEST_ON=cuda timeout "${LIMIT:-330}" "$program" >"$log" 2>&1
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
# SECONDS TEST...
run_tests() {
    local limit=$(within "$1") end
    shift
    rm -f "$out/tests.log"
    export programs out
    export -f try_test
    if [[ $limit -lt 5 ]]; then
        echo "   NOT DONE: no time is left"
        return
    fi
    printf '%s\n' "$@" | timeout -k 10 "$limit" xargs -P "${JOBS:-8}" -I{} bash -c 'try_test {}'
    end=$?
    [[ $end -ne 124 && $end -ne 137 ]] || echo "   NOT DONE: ended after its $limit s"
    echo "   $(grep -c '^== .* with 0 ' "$out/tests.log") passed, $(grep -c '^== .* with 77 ' "$out/tests.log")" \
        "skipped, of $#"
    rm -f "$out/.lock"
}
# The longest first.
part_tests() {
    echo "== tests"
    run_tests "${LIMIT_tests:-420}" ${TESTS:-test_float_golden ${tests//test_float_golden/}}
}
# What would make all times below worthless.
part_few() {
    echo "== few tests"
    run_tests "${LIMIT_few:-75}" ${TESTS:-test_layers test_layers_norm test_match test_pursuit test_refit test_step_ops test_choose}
    [[ ! -f $out/tests.log ]] || mv "$out/tests.log" "$out/few.log"
}
# The package as it lies in the tree, over the libraries here.
part_python() {
    export CULL_SELECT_LIBRARY=$(ls "$lib"/libcull_select.so* | head -1) PYTHONPATH=python/src:python/tests_torch
    bench python 120 30 LD_LIBRARY_PATH="$theirs" ${PYTHON:-python3} -m unittest -v test_cuda
    lacks_gpu python-step bench/gpu_python.py ||
        bench python-step 60 12 LD_LIBRARY_PATH="$theirs" ${PYTHON:-python3} bench/gpu_python.py
}
part_failures() {
    lacks_gpu failures "$bin/cull" bench/gpu_failures.sh && return
    say failures 150 30 bash bench/gpu_failures.sh "$bin/cull" "$recipes"
}
part_peer() {
    lacks_gpu peer bench/gpu_vs_pytorch.py && return
    bench peer 150 40 LD_LIBRARY_PATH="$theirs" ${PYTHON:-python3} bench/gpu_vs_pytorch.py ${PEER:---quick --batch 128,512 --model resnet18,wrn-16-4}
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

# ---- texts ----

text_recipe=$recipes/imdb-minilm.yaml
text_keys=(data.name="$CULL_DATA/imdb" data.tokenizer= data.length=0 model.path="$CULL_DATA/minilm"
    train.backend="${BACKEND:-cuda}" train.precision="${PRECISION:-bfloat16}")
# On another backend they want no GPU.
lacks_texts() {
    if [[ ${BACKEND:-cuda} == cuda ]]; then lacks_gpu "$1" "$text_recipe" && return; fi
    [[ -d $CULL_DATA/imdb && -d $CULL_DATA/minilm ]] && return 1
    echo "== $1: skipped, imdb and minilm are not in $CULL_DATA"
}
part_text-steps() {
    local length
    lacks_texts text-steps && return
    for length in ${LENGTHS:-128 256}; do
        bench "text-steps-$length" 150 20 TEXTS="$length" "$programs/bench_device_step" "${BACKEND:-cuda}" model.name=bert \
            model.path="$CULL_DATA/minilm" model.dropout=0.1 train.precision="${PRECISION:-bfloat16}"
        bench "text-steps-peer-$length" 150 20 LD_LIBRARY_PATH="$theirs" ${PYTHON:-python3} bench/gpu_vs_pytorch.py --model "minilm-$length" ${PEER_STEPS:-}
    done
}
part_text-train() {
    local seed
    lacks_texts text-train && return
    for seed in ${SEEDS:-1 2 3}; do
        rm -rf "/tmp/cull-text-train/$seed"
        bench "text-train-$seed" 300 12 "$bin/cull" train "$text_recipe" "${text_keys[@]}" train.seed="$seed" ${TEXT:-} \
            --json --out "/tmp/cull-text-train/$seed"
    done
}
part_text-peer() {
    local seeds=${SEEDS:-1 2 3}
    lacks_texts text-peer && return
    bench text-peer 540 8 LD_LIBRARY_PATH="$theirs" ${PYTHON:-python3} bench/text_peer.py "$CULL_DATA/imdb" "$CULL_DATA/minilm" --seeds "${seeds// /,}" \
        ${PEER_TEXT:-}
}
# A folder of finished runs is what a comparison goes on from.
part_text-figure() {
    local folder=/tmp/cull-text-figure more=()
    lacks_texts text-figure && return
    [[ -f $CULL_DATA/text-figure.tar && ! -d $folder ]] && tar -C /tmp -xf "$CULL_DATA/text-figure.tar"
    [[ -d $folder ]] && more=(--resume)
    bench text-figure 590 60 "$bin/cull" compare "$text_recipe" "${text_keys[@]}" ${TEXT:-} --strategies random,sb,gradmatch \
        --keep "${KEEP:-0.1,0.3,0.5}" --seeds "$(wc -w <<<"${SEEDS:-1 2 3}")" --until "${UNTIL:-9m}" --out "$folder" "${more[@]}"
    [[ ! -d $folder ]] || tar -C /tmp -cf "$out/text-figure.tar" cull-text-figure
}

part_bars() { ${PYTHON:-python3} bench/gpu_bars.py "$out"; }

for part in $parts; do
    "part_$part"
    [[ -z ${OUT:-} ]] || tar -czf "$OUT/gpu-logs.tar.gz" -C "$out" .
done
