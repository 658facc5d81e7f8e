#!/usr/bin/env bash
# Everything that wants a GPU, in one go: tests, the sanitizers of CUDA, times, PyTorch's beside them.
#
#     bench/gpu.sh [PART]...      facts tests steps layers solvers sanitize train peer (all of them),
#                                 text-steps text-train text-peer text-figure (when they are named)
#
# Builds here where that can be, or takes build/carry.tar.xz, which tools/carry.sh made elsewhere. What
# is said goes to $OUT (build/gpu) as a log for each part, and its end to the screen. Tests run JOBS (8)
# at a time and keep ways of their own, as what they time is disturbed; all else has the device alone.
# train: SEEDS (1 2 3 4 5) of the recipe for CIFAR-10, in CULL_DATA; what lies in build/data is moved
# there first, so that a set may come in several visits.
#
# The parts on texts read imdb/ and minilm/ in CULL_DATA, which come as pieces that tools/carry_text.sh
# made: each visit takes one to build/data, and the visit after the last finds them put together. What
# each part says, a line of JSON each, and how long it takes on one device:
#
#     text-steps   minutes 4   steps of 32 texts of 128 and 256 tokens: full, and `sb` and `gradmatch` at
#                              .1, .3 and .5, separate, reused, remembered; the same of PyTorch, eager,
#                              in a graph, in a graph of a compiled model
#     text-train   minutes 5   SEEDS (1 2 3) of recipes/imdb-minilm.yaml: accuracy, seconds
#     text-peer    minutes 6   the same three epochs by PyTorch (text_peer.py)
#     text-figure  minutes 9   `random`, `sb`, `gradmatch` at .1, .3 and .5 with their controls, SEEDS;
#                              the next visit goes on, from $OUT/text-figure.tar in build/data
#
# TEXT holds further keys for ours, PEER_TEXT words for PyTorch's, as to try all of it on a processor:
#
#     BACKEND=cpu PRECISION=float32 TEXT='data.subset=0.001 train.epochs=1' SEEDS=1 \
#     PEER_TEXT='--device cpu --texts 16 --epochs 1' bench/gpu.sh text-train text-peer text-figure
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
# All pieces are there, and whole, or it is waited for the others.
if [[ -f $CULL_DATA/text.sum && ! -d $CULL_DATA/minilm ]]; then
    if (cd "$CULL_DATA" && sha256sum --status -c text.sum 2>/dev/null); then
        cat "$CULL_DATA"/text-[0-9][0-9] | tar -C "$CULL_DATA" -xJf - && rm -f "$CULL_DATA"/text-[0-9][0-9]
    else
        echo "texts: pieces are missing, of $(wc -l <"$CULL_DATA/text.sum")"
    fi
fi
if wants train; then
    say train 8 train_seeds
fi
if wants peer; then
    say peer 40 python3 bench/gpu_vs_pytorch.py ${PEER:---quick}
fi
# ---- texts ----
cull=$bin/../bin/cull recipe=${root:-.}/recipes/imdb-minilm.yaml
[[ -x $cull ]] || cull=build/cull
text_keys=(data.name="$CULL_DATA/imdb" data.tokenizer= data.length=0 model.path="$CULL_DATA/minilm"
    train.backend="${BACKEND:-cuda}" train.precision="${PRECISION:-bfloat16}")
text_steps() {
    local length
    for length in ${LENGTHS:-128 256}; do
        TEXTS=$length "$steps" "${BACKEND:-cuda}" model.name=bert model.path="$CULL_DATA/minilm" model.dropout=0.1 \
            train.precision="${PRECISION:-bfloat16}" || return 1
        python3 bench/gpu_vs_pytorch.py --model "minilm-$length" ${PEER_STEPS:-} || return 1
    done
}
text_train() {
    local seed
    for seed in ${SEEDS:-1 2 3}; do
        rm -rf "/tmp/cull-text-train/$seed"
        "$cull" train "$recipe" "${text_keys[@]}" train.seed="$seed" ${TEXT:-} --json \
            --out "/tmp/cull-text-train/$seed" >"$out/text-train-$seed.json" || return 1
        python3 - "$out/text-train-$seed.json" "$seed" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
keys = ("test", "best", "loss", "seconds", "seconds_training", "tokens_trained")
print(json.dumps({"seed": int(sys.argv[2]), **{k: run[k] for k in keys if k in run}}))
PY
    done
}
# A folder of finished runs is what a comparison goes on from.
text_figure() {
    local folder=/tmp/cull-text-figure more=() end
    [[ -f $CULL_DATA/text-figure.tar && ! -d $folder ]] && tar -C /tmp -xf "$CULL_DATA/text-figure.tar"
    [[ -d $folder ]] && more=(--resume)
    "$cull" compare "$recipe" "${text_keys[@]}" ${TEXT:-} --strategies random,sb,gradmatch --keep "${KEEP:-0.1,0.3,0.5}" \
        --seeds "$(wc -w <<<"${SEEDS:-1 2 3}")" --until "${UNTIL:-9m}" --out "$folder" "${more[@]}"
    end=$?
    tar -C /tmp -cf "$out/text-figure.tar" cull-text-figure
    return $end
}
if wants text-steps; then say text-steps 60 text_steps; fi
if wants text-train; then say text-train 8 text_train; fi
if wants text-peer; then
    seeds=${SEEDS:-1 2 3}
    say text-peer 8 python3 bench/text_peer.py "$CULL_DATA/imdb" "$CULL_DATA/minilm" --seeds "${seeds// /,}" ${PEER_TEXT:-}
fi
if wants text-figure; then say text-figure 60 text_figure; fi
