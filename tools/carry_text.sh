#!/usr/bin/env bash
# Packs what runs on texts read, for a machine that takes some MiB at a time.
#
#     tools/carry_text.sh CULL DATA OUT [MIB]
#
# DATA holds aclImdb/ and minilm/ as recipes/imdb-minilm.yaml has them. The reviews go as tokens, 256 of
# each, the network without its tokenizer; OUT gets text-00, text-01, ... of MIB (60) each and
# text.sum. bench/gpu.sh puts them together again once all of them lie in CULL_DATA.
set -euo pipefail
cull=$(realpath "$1") data=$(realpath "$2") out=$3 most=${4:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cull" data convert "$data/aclImdb" --tokenizer "$data/minilm" --length 256 -o "$work/imdb"
mkdir "$work/minilm"
cp "$data"/minilm/{config.json,model.safetensors} "$work/minilm/"
mkdir -p "$out"
rm -f "$out"/text-[0-9][0-9]
tar -C "$work" --sort=name -cf - imdb minilm | xz -T0 -1 | split -b "${most}M" -d - "$out/text-"
(cd "$out" && sha256sum text-[0-9][0-9] >text.sum && du -h text-[0-9][0-9])
