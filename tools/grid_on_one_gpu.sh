#!/usr/bin/env bash
# Fills the grid of the paper's experiments on one GPU in a given time (docs/reproduce.md).
#
#   tools/grid_on_one_gpu.sh DATA GRID SECONDS
#
# DATA has 106.npz to 550.npz. GRID may have cells and runs already: what is done is skipped, what was interrupted goes
# on. Lanes work beside each other, each a process with a share of the GPU's memory that runs commands one after the
# other; afterwards times are measured with nothing beside them. All of it ends in time.
#
# Environment: UNSEEN, the command (python -m unseen); SETTINGS, a TOML file; TIMING, seconds for the times (170);
# OPTIONS, further options of `unseen reproduce`.
set -uo pipefail

if [ $# -ne 3 ] || [ ! -d "$1" ]; then
    echo "usage: $0 DATA GRID SECONDS, where DATA is a folder with 106.npz to 550.npz" >&2
    exit 2
fi
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
DATA=$1 GRID=$2 END=$((SECONDS + $3))
TIMING=${TIMING:-170}
SETTINGS=${SETTINGS:-$HERE/grid_on_one_gpu.toml}
read -ra UNSEEN <<<"${UNSEEN:-python -m unseen}"
read -ra OPTIONS <<<"${OPTIONS:-}"
LIMITS=(--limit test=1000 --limit test-alone=300 --limit training=60 --limit training-alone=60 --limit easy-first=200
    --limit strata=120 --limit probabilities=60 --limit tune=80 --limit tune-alone=80 --limit time=32)
FIRST=test,test-alone,training,training-alone,easy-first
OWN=strata,probabilities
LEFT="--methods nodepiece-qe,nodepiece-qe-gnn,gnn-qe --experiments $FIRST,$OWN"
LANES=6
THREADS=$(($(nproc) / LANES > 0 ? $(nproc) / LANES : 1))
mkdir -p "$GRID/logs" "$GRID/datasets"

reproduce() { # until SECOND, then options: one command that stops in time
    local until=$1
    shift
    local left=$((until - SECONDS))
    [ "$left" -gt 5 ] || return 0
    "${UNSEEN[@]}" reproduce --data "$DATA" -o "$GRID" --no-report --settings "$SETTINGS" "${LIMITS[@]}" \
        --minutes "$(awk "BEGIN { print $left / 60 }")" "${OPTIONS[@]}" "$@"
}

lane() { # name, share, then one quoted set of options for each command
    local name=$1 share=$2
    shift 2
    {
        local -a command
        for words in "$@"; do
            read -ra command <<<"$words"
            reproduce $((END - TIMING)) --share "$share" "${command[@]}"
        done
    } >"$GRID/logs/$name.log" 2>&1 &
}

both() { # methods, ratios: what the paper has, then what is ours
    echo "--methods $1 --ratios $2 --experiments $FIRST,$OWN"
}

prepare() { # published files are read once, all at a time
    local source ratio
    for source in "$DATA"/*.npz; do
        [ -e "$source" ] || continue
        ratio=$(basename "$source" .npz)
        [ -e "$GRID/datasets/$ratio/manifest.json" ] || "${UNSEEN[@]}" dataset import "$source" -o "$GRID/datasets/$ratio" &
    done
    wait
}

sharing() { # lets kernels of several processes run at a time, where the driver can
    command -v nvidia-cuda-mps-control >/dev/null || return 0
    export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d) CUDA_MPS_LOG_DIRECTORY=$GRID/logs
    nvidia-cuda-mps-control -d
    trap 'echo quit | nvidia-cuda-mps-control' EXIT
}

prepare >"$GRID/logs/prepare.log" 2>&1
export OMP_NUM_THREADS=$THREADS NUMBA_NUM_THREADS=$THREADS
sharing
lane fine-tuned 0.30 "$(both zero-shot-fine-tuned 106,113,134,122,175,150,217,300,550)" "$LEFT"
lane gnn-qe-106 0.16 "$(both gnn-qe 106)" "$(both gnn-qe 550,300,217,150)" "$LEFT"
lane gnn-qe-113 0.16 "$(both gnn-qe 113)" "$(both gnn-qe 550,300,217,150)" "$LEFT"
lane gnn-qe 0.16 "$(both gnn-qe 175,122,134,150,217,300,550)" "$LEFT"
lane nodepiece-qe 0.16 "$LEFT"
lane betae 0.06 "$(both betae 175)" "$(both edge-type,zero-shot,zero-shot-without-fb 175,550,300,217,150,134,122,113,106)"
wait $(jobs -p)
unset OMP_NUM_THREADS NUMBA_NUM_THREADS
for methods in edge-type,zero-shot,zero-shot-without-fb,gnn-qe,zero-shot-fine-tuned nodepiece-qe,nodepiece-qe-gnn betae; do
    reproduce "$END" --methods "$methods" --experiments time # those whose runs may have to be made first come last
done >"$GRID/logs/time.log" 2>&1
"${UNSEEN[@]}" reproduce -o "$GRID" --report --no-figures --json >"$GRID/logs/report.json" 2>"$GRID/logs/report.log" ||
    tail -1 "$GRID/logs/report.log" >&2
