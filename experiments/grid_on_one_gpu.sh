#!/usr/bin/env bash
# Fills the grid of the paper's experiments on one GPU in about a given time (docs/how-to/reproduce.md).
#
#   experiments/grid_on_one_gpu.sh DATA GRID SECONDS
#
# DATA has 106.npz to 550.npz. GRID may have cells and runs already: what is done is skipped, what was interrupted goes
# on. Lanes work beside each other, each with its own methods: one process at a time, with a share of the GPU's memory,
# brings one ratio after the other to its end. Afterwards times are measured with nothing beside them. No Ray is needed.
# Ctrl-C stops all of it; the same words go on. Only one such script may work in GRID.
#
# Environment: PYTHON, what runs `-m unseen` and `-m experiments` (python); SETTINGS, a TOML file; TIMING, seconds for the times (210);
# RATIOS, which of the nine, with commas, and in which order most lanes take them (175,550,...); OPTIONS, further options
# of every `python -m experiments`.
set -uo pipefail

refuse() {
    echo "$0: $1" >&2
    exit 2
}

[ $# -eq 3 ] || refuse "needs DATA GRID SECONDS"
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH=$(dirname "$HERE")${PYTHONPATH:+:$PYTHONPATH} # where `experiments` is found
DATA=$1 GRID=$2
TIMING=${TIMING:-210}
SETTINGS=${SETTINGS:-$HERE/grid_on_one_gpu.toml}
ENDING=20 # seconds to start and to stop commands, and for the report
SPREAD=175,550,106,300,134,217,150,122,113 # in which times are measured
RATIOS=${RATIOS:-175,550,300,217,150,134,122,113,106}
read -ra PYTHON <<<"${PYTHON:-python}"
read -ra OPTIONS <<<"${OPTIONS:-}"
[ -d "$DATA" ] || refuse "$DATA: there is no such folder"
for ratio in ${RATIOS//,/ }; do
    [[ ,$SPREAD, == *,$ratio,* ]] || refuse "RATIOS: $ratio is none of $SPREAD"
done
[ "$3" -gt $((TIMING + ENDING)) ] 2>/dev/null || refuse "SECONDS must be more than $((TIMING + ENDING)), not $3"
"${PYTHON[@]}" -m unseen --version >/dev/null || refuse "'${PYTHON[*]} -m unseen' does not run; say how in PYTHON"
END=$((SECONDS + $3 - ENDING))

LIMITS=(--limit test=1000 --limit test-alone=1000 --limit training=60 --limit training-alone=60 --limit easy-first=200
    --limit strata=120 --limit probabilities=60 --limit tune=80 --limit tune-alone=80 --limit time=16)
PAPER=test,test-alone,training,training-alone,easy-first
OWN=strata,probabilities
LANES=4
THREADS=$(($(nproc) / LANES > 0 ? $(nproc) / LANES : 1))
FAILED=$GRID/logs/failed
mkdir -p "$GRID/logs" "$GRID/datasets"
rm -f "$FAILED"

reproduce() { # until SECOND, then options: one command that stops in time; a failure is remembered
    local left=$(($1 - SECONDS))
    shift
    [ "$left" -gt 5 ] || return 0
    "${PYTHON[@]}" -m experiments --data "$DATA" -o "$GRID" --no-report --settings "$SETTINGS" "${LIMITS[@]}" \
        --minutes "$(awk "BEGIN { print $left / 60 }")" "${OPTIONS[@]}" "$@" || echo "$*" >>"$FAILED"
}

beside() { # name, then a command: does it beside everything else, as a group of processes of its own, with a log
    local name=$1
    shift
    (
        trap 'exit 130' INT TERM
        "$@"
    ) >"$GRID/logs/$name.log" 2>&1 &
}

lane() { # rank, share, then METHODS:RATIOS, one command for each ratio; kernels of rank 0 come before those of 1
    local rank=$1 share=$2 work ratios ratio
    shift 2
    export CUDA_MPS_CLIENT_PRIORITY=$rank
    for work in "$@"; do
        IFS=, read -ra ratios <<<"${work##*:}"
        for ratio in "${ratios[@]}"; do
            is_asked "$ratio" || continue
            reproduce $((END - TIMING)) --share "$share" --methods "${work%%:*}" --ratios "$ratio" \
                --experiments "$PAPER,$OWN"
        done
    done
}

is_asked() { # a ratio
    [[ ,$RATIOS, == *,$1,* ]]
}

is_done() { # a cell
    grep -qs '"status": "done"' "$GRID/results/$1.json"
}

timed() { # ratio: the methods whose times can be measured there, with commas
    local method found=edge-type,path-counts,zero-shot,zero-shot-without-fb
    for method in gnn-qe zero-shot-fine-tuned nodepiece-qe nodepiece-qe-gnn betae; do
        is_done "$1/$method/train" || continue
        [[ $method != nodepiece* ]] || is_done "$1/$method/tune" || continue
        found+=,$method
    done
    echo "$found"
}

times() { # all methods of one ratio after the other
    local ratio
    for ratio in ${SPREAD//,/ }; do
        is_asked "$ratio" || continue
        reproduce "$END" --methods "$(timed "$ratio")" --ratios "$ratio" --experiments time
    done
}

prepare() { # published files are read once, all at a time
    local source ratio
    for source in "$DATA"/*.npz; do
        ratio=$(basename "$source" .npz)
        if is_asked "$ratio" && [ -e "$source" ] && [ ! -e "$GRID/datasets/$ratio/manifest.json" ]; then
            "${PYTHON[@]}" -m unseen dataset import "$source" -o "$GRID/datasets/$ratio" || echo "$source" >>"$FAILED" &
        fi
    done
    wait
}

share_kernels() { # lets kernels of several processes run at a time, where the driver can
    command -v nvidia-cuda-mps-control >/dev/null || return 0
    export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d) CUDA_MPS_LOG_DIRECTORY=$GRID/logs
    nvidia-cuda-mps-control -d
    trap 'echo quit | nvidia-cuda-mps-control; rm -rf "$CUDA_MPS_PIPE_DIRECTORY"' EXIT
}

stop() { # everything that was started; each command saves what it has
    for group in $(jobs -p); do kill -TERM -- "-$group" 2>/dev/null; done
    wait
    exit 130
}

trap stop INT TERM
set -m # what is done beside is a group of processes of its own
prepare >"$GRID/logs/prepare.log" 2>&1
export OMP_NUM_THREADS=$THREADS NUMBA_NUM_THREADS=$THREADS
share_kernels
beside gnn-qe lane 0 0.25 gnn-qe:113,106,122,134,150 # the longest runs, which nothing may hold up
beside fine-tuned lane 1 0.30 zero-shot-fine-tuned:106,113,134,122,175,150,217,300,550
beside nodepiece-qe lane 1 0.16 nodepiece-qe,nodepiece-qe-gnn:$RATIOS
beside others lane 1 0.16 edge-type,path-counts,zero-shot,zero-shot-without-fb:$RATIOS betae:175 gnn-qe:175,550,300,217
wait
unset OMP_NUM_THREADS NUMBA_NUM_THREADS
beside time times
wait
"${PYTHON[@]}" -m experiments -o "$GRID" --report --no-figures "${OPTIONS[@]}" >"$GRID/logs/report.log" 2>&1 || echo report >>"$FAILED"
tail -1 "$GRID/logs/report.log"
[ ! -e "$FAILED" ] || { echo "some commands failed: $FAILED says which, $GRID/logs why" >&2; exit 1; }
