#!/usr/bin/env bash
# The papers' figures that want a GPU, in order, as far as a visit to one goes; the next goes on.
#
#     bench/papers.sh [ENTRY]...      those of the list below, or these of it
#
# Takes build/carry.tar.xz, which tools/carry.sh made elsewhere, or what is built here. Sets come in
# build/data, in several visits if need be (what ends in .xz is unpacked): they are moved to CULL_DATA.
# What earlier visits left comes in build/papers.tar.xz. After MINUTES (9) at most it ends; $OUT
# (build/papers) then has papers.tar.xz, with all finished runs and no weights, a page a paper, and a log.
# Networks compute in PRECISION (bfloat16): a line of its own in each recipe, named in the log.
set -uo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${OUT:-build/papers}")
end=$(($(date +%s) + ${MINUTES:-9} * 60))
root=${ROOT:-/tmp/cull-papers} # of the runs of all papers
mkdir -p "$out" "$root"
cull=$PWD/build/cull commit=$(git rev-parse --short HEAD 2>/dev/null)
if [[ -f build/carry.tar.xz || -d /tmp/cull-carried ]]; then
    carried=/tmp/cull-carried
    [[ -f build/carry.tar.xz ]] && mkdir -p $carried && tar -xJf build/carry.tar.xz -C $carried
    cudnn=$(${PYTHON:-python3} -c 'import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0] + "/lib")' 2>/dev/null)
    export LD_LIBRARY_PATH=$carried/lib:${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/cuda/lib64${cudnn:+:$cudnn}
    export CULL_MODULES=$carried/lib
    cull=$carried/bin/cull commit=$(cat $carried/commit)
fi
[[ -f build/papers.tar.xz ]] && tar -xJf build/papers.tar.xz -C "$root" --skip-old-files
export CULL_DATA=${CULL_DATA:-/tmp/cull-data}
if [[ -d build/data ]]; then
    mkdir -p "$CULL_DATA" && cp -r build/data/. "$CULL_DATA/"
    find "$CULL_DATA" -name '*.xz' -print0 | xargs -0 -r -P 4 xz -d -f
fi
recipes=$root/recipes
rm -rf "$recipes" && cp -r "${RECIPES:-recipes/reproduce}" "$recipes"
sed -i "s/^train:\$/&\n  precision: ${PRECISION:-bfloat16}/" "$recipes"/*/*.yaml

# In the order in which they are to be had; where seeds of a paper are one, two give an interval.
list="balles2023/fig1 --epochs 30 --seeds 3
balles2023/fig2 --epochs 30 --seeds 3
balles2023/fig3-resnet18 --batches 40
balles2023/fig4 --epochs 30 --seeds 3
balles2023/table1
jiang2019/table1 --epochs 20 --seeds 2
jiang2019/fig11 --epochs 20 --seeds 2
killamsetty2021/fig3b
killamsetty2021/fig3c --epochs 30 --seeds 2"

# What trains nothing and is done is not done again.
is_done() {
    grep -q '"done": *true' "$root/${1%%/*}/figures/${1#*/}/figure.json" 2>/dev/null &&
        [[ $1 == */fig3-* || $1 == balles2023/table1* ]]
}
do_entry() {
    local left=$((end - $(date +%s)))
    [[ $left -gt 20 ]] || return 0
    is_done "$1" && return 0
    echo "== $* --until ${left}s"
    "$cull" reproduce "$@" --until "${left}s" --recipes "$recipes" --out "$root/${1%%/*}"
    echo "   ended with $? after $SECONDS s"
}
wants() { [[ $# -eq 1 || " ${*:2} " == *" $1 "* ]]; }

echo "commit $commit, precision ${PRECISION:-bfloat16}"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
{
    # Probes compute on the processor, beside what the device does.
    while read -r name rest; do
        [[ $name == */fig3-* ]] && wants "$name" "$@" && do_entry "$name" $rest &
    done <<<"$list"
    while read -r name rest; do
        [[ $name != */fig3-* ]] && wants "$name" "$@" && do_entry "$name" $rest
    done <<<"$list"
    wait
} >"$out/papers.log" 2>&1
grep -E '^(==|claim|   ended|[0-9]+ of [0-9]+ runs)' "$out/papers.log"

# Runs without their weights; what is not finished begins anew the next time.
cd "$root" || exit 1
{
    grep -lE '"status": *"finished"' */runs/*/*/run.json 2>/dev/null | while read -r file; do
        printf '%s\n' "$file" "${file%/*}/metrics.jsonl" "${file%/*}/recipe.yaml"
    done
    find . -path '*/figures/*' \( -name '*.json' -o -name '*.jsonl' \) | cut -c3-
} >"$out/.files"
[[ -s $out/.files ]] && tar -cJf "$out/papers.tar.xz" -T "$out/.files"
rm -f "$out/.files"
for page in */page.html; do [[ -f $page ]] && cp "$page" "$out/${page%%/*}.html"; done
du -h "$out"/* | sed "s|$out/||"
