# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: Apache-2.0
# Shared by the batch scripts: reads the profile and passes every signal on to the ranks. Sourced by
# sh in the root of the checkout.

PROFILE=${PROFILE:-slurm/profiles/srun.env}
berth_given=${BERTH:-}
launch_given=${LAUNCH:-}
case $PROFILE in
  */*) ;;
  *) PROFILE=./$PROFILE ;; # or "." would look for it in PATH
esac
[ -r "$PROFILE" ] || { echo "no profile $PROFILE; see slurm/profiles" >&2; exit 2; }
# shellcheck source=slurm/profiles/srun.env
. "$PROFILE"
BERTH=${berth_given:-${BERTH:-build/release/bin/berth}}
LAUNCH=${launch_given:-$LAUNCH}
command -v "$BERTH" > /dev/null || { echo "no $BERTH; run scripts/setup first, or set BERTH" >&2; exit 2; }

RANKS=${SLURM_NTASKS:-$((${SLURM_JOB_NUM_NODES:-1} * RANKS_PER_NODE))}
export OMP_NUM_THREADS="$THREADS"
export SRUN_CPUS_PER_TASK="$THREADS"                 # srun no longer takes it from sbatch
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}" # waiting threads yield their core

# "--signal=B:..." and "scancel --batch" reach this shell alone, so it passes SIGUSR1 and SIGTERM on
# to the launcher, which passes them to the ranks, and keeps waiting. Always as SIGUSR1: srun would
# end its step on SIGTERM.
signalled=
launcher=
trap 'signalled=1; [ -z "$launcher" ] || kill -USR1 "$launcher" 2> /dev/null || :' USR1 TERM

# run_ranks N COMMAND...: COMMAND on N ranks; leaves its exit code in `code`.
run_ranks() {
  ranks=$1
  shift
  [ -z "$signalled" ] || { echo "a signal came before the ranks started" >&2; exit 1; }
  # shellcheck disable=SC2086 # a command and its options
  $LAUNCH -n "$ranks" "$@" &
  launcher=$!
  code=0
  wait "$launcher" || code=$?
  while [ -n "$signalled" ]; do # a trapped signal ends `wait`, not the ranks
    signalled=
    again=0
    wait "$launcher" || again=$?
    [ "$again" = 127 ] || code=$again # 127: it had ended already
  done
  launcher=
}
