#!/usr/bin/env bash
# Compares what vectors of relations may learn from, by pre-training for the same time side by side on one GPU.
#
#   experiments/pretraining_on_one_gpu.sh DATA OUT SECONDS
#
# DATA has the folders wn18rr, codex-m and wd50k to learn from, and family, kinships, umls, nations, 106.npz and 175.npz
# to measure on validation data (`python -m experiments.pretraining family DATA/family` writes the first). It ends within
# SECONDS, at least 60: what is not done by then is left out. OUT gets, as it goes:
#
#   measured.jsonl        a line for each variant and data; `start` is the model to begin with
#   logs.txt              what every process said
#   VARIANT.safetensors   averaged weights
#   VARIANT.tar           the run, to go on with: `unseen pretrain ... -o VARIANT/run --resume`
#
# Environment: PYTHON (python3); VARIANTS (none by_relation by_source); FROM, the model to begin with
# (without-fb15k-237), empty for none; SETTINGS, further settings for all; MEASURING, seconds kept for it (60);
# LIMIT, triples or questions of a type (40).
set -uo pipefail

refuse() {
    echo "$0: $1" >&2
    exit 2
}

[ $# -eq 3 ] || refuse "needs DATA OUT SECONDS"
[ "$3" -ge 60 ] 2>/dev/null || refuse "SECONDS must be at least 60, not $3"
DATA=$(cd "$1" && pwd) || refuse "$1: there is no such folder"
mkdir -p "$2" && OUT=$(cd "$2" && pwd) || refuse "$2: cannot be written"
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH=$HERE/src:$HERE PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=
read -ra PYTHON <<<"${PYTHON:-python3}"
read -ra VARIANTS <<<"${VARIANTS:-none by_relation by_source}"
read -ra SETTINGS <<<"${SETTINGS:-}"
FROM=${FROM-without-fb15k-237} LIMIT=${LIMIT:-40} MEASURING=${MEASURING:-60}
ENDING=12 # seconds to stop and to pack
WORLDS=(smallest_world=500 largest_world=60000 growing_worlds=0.5 whole_worlds=0.1 made_up_relations=0.5
    dense_worlds=0.2 few_relation_worlds=0.2 hub_worlds=0.25 sampler_threads=4)
LEARNING=(learning_rate=7e-4 warmup=30 schedule=constant average=0.99 statistics=true checkpoint_every=100000)
WORK=$(mktemp -d)

collect() { # what there is so far, each file whole
    local variant
    cat "$WORK"/*/measured.jsonl >"$WORK/measured" 2>/dev/null && mv "$WORK/measured" "$OUT/measured.jsonl"
    tail -n +1 "$WORK"/*.log >"$WORK/logs" 2>/dev/null && mv "$WORK/logs" "$OUT/logs.txt"
    for variant in "${VARIANTS[@]}"; do
        [ -e "$WORK/$variant/averaged.safetensors" ] && cp "$WORK/$variant/averaged.safetensors" "$OUT/$variant.safetensors"
    done
    return 0
}

pack() { # runs to go on with
    local variant
    for variant in "${VARIANTS[@]}"; do
        [ -e "$WORK/$variant/run/last.json" ] || continue
        tar -cf "$OUT/$variant.tar" -C "$WORK" --exclude=start.safetensors --exclude=best.safetensors "$variant/run"
    done
}

finish() { # everything that was started ends, what there is comes along
    local group
    trap - EXIT
    for group in $(jobs -p); do kill -KILL -- "-$group" 2>/dev/null; done
    collect
    pack
    [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || echo quit | nvidia-cuda-mps-control >/dev/null 2>&1
    rm -rf "$WORK"
}

share_kernels() { # lets kernels of several processes run at a time, where that works
    command -v nvidia-cuda-mps-control >/dev/null || return 0
    export CUDA_MPS_PIPE_DIRECTORY=$WORK/mps CUDA_MPS_LOG_DIRECTORY=$WORK/mps
    mkdir -p "$WORK/mps"
    nvidia-cuda-mps-control -d
    timeout 20 "${PYTHON[@]}" -c 'import torch; torch.zeros(1).cuda()' && return 0
    echo quit | timeout 5 nvidia-cuda-mps-control
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    echo "kernels of several processes take turns: MPS does not work here"
}

trap finish EXIT
trap 'finish; exit 130' INT TERM
set -m # each variant is a group of processes of its own
share_kernels >"$WORK/mps.log" 2>&1
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,memory.total --format=csv >>"$WORK/mps.log" 2>&1
export OMP_NUM_THREADS=2
share() { # of the GPU's memory, if there is one
    command -v nvidia-smi >/dev/null && echo "$1" || echo 1
}
TRAINING=$(($3 - SECONDS - MEASURING - ENDING))
START=()
[ -z "$FROM" ] || START=(--from "$FROM")
trial() { # name, seconds, relation_states, share: one process, in the background
    "${PYTHON[@]}" -m experiments.pretraining trial "$WORK/$1" --graphs "$DATA"/{wn18rr,codex-m,wd50k} \
        --data "$DATA"/{family,kinships,umls,nations,175.npz,106.npz} --seconds "$2" --limit "$LIMIT" \
        --share "$(share "$4")" "${START[@]}" --set "${WORLDS[@]}" "${LEARNING[@]}" relation_states="$3" \
        "${SETTINGS[@]}" >"$WORK/$1.log" 2>&1 &
}

for variant in "${VARIANTS[@]}"; do trial "$variant" "$TRAINING" "$variant" "$(awk "BEGIN { print 0.9 / ${#VARIANTS[@]} }")"; done
[ -z "$FROM" ] || trial start 0 none 0.07
while [ $SECONDS -lt $(($3 - ENDING)) ] && [ -n "$(jobs -pr)" ]; do
    sleep 2
    collect
done
finish
cat "$OUT/measured.jsonl" 2>/dev/null || { tail -n 30 "$OUT/logs.txt" >&2; exit 1; }
