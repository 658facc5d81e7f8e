#!/usr/bin/env bash
# What goes wrong on a GPU, as a user meets it: no device, no memory, a run that is killed, two at once. A line
# each, ok or not; the status is 1 where one is not.
#
#     bench/gpu_failures.sh CULL RECIPES
#
# A trap in the middle of a run is test_trap's. Runs are small and repeatable (train.deterministic), of made-up
# pictures, so that what goes on after a failure can be held against a run that had none. BACKEND=cpu MODEL=lenet5
# tries the script itself, where the first two cannot hold.
set -uo pipefail
cull=$1 work=$(mktemp -d) failed=0
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" - "$work/pictures.npz" <<'PY' || exit 1
import sys, numpy
rng = numpy.random.default_rng(1)
numpy.savez(sys.argv[1], x=rng.integers(0, 256, (6400, 3, 32, 32), dtype=numpy.uint8),
            y=rng.integers(0, 10, 6400).astype("int32"))
PY
cat >"$work/run.yaml" <<YAML
data: {name: $work/pictures.npz, split: 0.1}
augment: {crop: 4, flip: true}
model: {name: ${MODEL:-resnet18}}
optim: {lr: 0.05, momentum: 0.9}
select: {strategy: sb, keep: 0.3}
score: {pass: reuse}
train: {backend: ${BACKEND:-cuda}, deterministic: true, epochs: ${EPOCHS:-12}, batch: 128, checkpoint_steps: 20, log: 0}
YAML
train() { "$cull" train "$work/run.yaml" --out "$work/$1" "${@:2}" >"$work/$1.log" 2>&1; }
# Beside this script; $! is the program.
begin() { "$cull" train "$work/run.yaml" --out "$work/$1" >"$work/$1.log" 2>&1 & }
# The weights at the end, by their hash.
weights() { ls "$work/$1" | sed -n 's/^weights-\(.*\)[.]safetensors$/\1/p' | sort -V | tail -1; }
told() { # WHAT STATUS WANTED-STATUS LOG SENTENCE
    if [[ $2 -eq $3 ]] && grep -q "$5" "$work/$4.log"; then
        echo "ok      $1"
    else
        failed=1
        echo "NOT OK  $1: status $2, '$5' is not in what it says:"
        tail -3 "$work/$4.log"
    fi
}
same() {
    if [[ -n $(weights "$2") && $(weights "$2") == $(weights whole) ]]; then
        echo "ok      $1"
    else
        failed=1
        echo "NOT OK  $1: weights $(weights "$2"), and $(weights whole) of a run without it"
        tail -3 "$work/$2.log"
    fi
}

CUDA_VISIBLE_DEVICES= train none
told "no device is said" $? 1 none "sees no device"

# Somebody else has all but 300 MB.
"${PYTHON:-python3}" - <<'PY' >"$work/hog.log" 2>&1 &
import time, torch
free, total = torch.cuda.mem_get_info()
held = torch.empty(free - 300_000_000, dtype=torch.uint8, device="cuda")
print("held", flush=True)
time.sleep(600)
PY
hog=$!
for _ in $(seq 100); do grep -q held "$work/hog.log" && break || sleep 0.2; done
train full
told "no memory is said" $? 1 full "memory is full\|are free"
kill "$hog" && wait "$hog" 2>/dev/null

train whole || tail -3 "$work/whole.log"
begin killed
run=$!
for _ in $(seq 400); do compgen -G "$work/killed/weights-*" >/dev/null && break || sleep 0.05; done
kill -9 "$run"
wait "$run" 2>/dev/null
train killed --resume
same "a run that was killed goes on and leaves the same weights" killed

begun=$SECONDS
train alone
alone=$((SECONDS - begun)) begun=$SECONDS
begin one
one=$!
train two
wait "$one"
echo "        a run alone took $alone s, two at once $((SECONDS - begun)) s"
same "of two runs at once, the first" one
same "of two runs at once, the second" two
exit $failed
