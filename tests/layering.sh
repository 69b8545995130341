#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Refuses includes against the allowed directions (docs/architecture.md), MPI outside comm, threads
# outside parallel and PETSc outside solver/petsc. usage: tests/layering.sh [SOURCE_ROOT]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

# What a library may include besides itself; `*` = everything below the programs.
while read -r library allowed; do
  [ "$allowed" = '*' ] && continue
  for folder in "src/$library" "$library" "include/berth/$library"; do
    [ -d "$folder" ] || continue
    grep -rnE '#include [<"]berth/' "$folder" --include='*.[ch]pp' |
      grep -vE '^src/api/[^:]*:[0-9]*:#include "berth/(berth|version)\.hpp"' |  # no folder
      grep -vE "[<\"]berth/($(echo "$library $allowed" | sed 's/ *-//; s/ /|/g'))/" >> "$bad"
  done
done <<'RULES'
base -
parallel base
comm base
strads base
model base
horizon base model
planner_model base model
speed base model
io base model speed
partition base parallel strads model
solver base parallel horizon model planner_model
generate base horizon model
policy base horizon model
coordinator base comm parallel strads horizon model planner_model partition solver
certify base parallel horizon model
report base model
explain base model planner_model solver
pipeline base parallel comm strads horizon model planner_model io partition solver coordinator certify report
sim base parallel comm horizon model io policy solver speed pipeline
papers base model policy solver speed certify
api base comm parallel model io solver coordinator certify report pipeline
scale *
apps *
RULES

# refuse PATTERN WHERE_ALLOWED: the pattern anywhere else, comments aside.
refuse() {
  grep -rnE "$1" src include partition solver --include='*.[ch]pp' |
    grep -vE "^($2)" | grep -vE '^[^:]*:[0-9]*: *(//|\*)' >> "$bad"
}
# PETSc has to live on MPI_COMM_SELF, inside MPI: starting and ending it sends no message.
life_cycle='.*MPI_(COMM_SELF|Initialized|Init_thread|Finalized|Finalize)\b'
refuse '<mpi\.h>|\bMPIX?_[A-Z]' 'src/comm/|solver/petsc/[^:]*:[0-9]*:'"$life_cycle"
refuse '<(oneapi/)?tbb|\b(oneapi|tbb)::|<omp\.h>|\bomp_[a-z]|#pragma omp' 'src/parallel/'
refuse '[<"]petsc' 'solver/petsc/'
# The value of a job (model::ObjectiveTraits::base) to the planner and in simulations; the judge has
# its own.
refuse '[.>]base\([^)]' 'src/planner_model/|src/sim/job_value\.cpp'
# The free devices of a machine as readers and planner count them; the judge has its own.
grep -rnE 'berth/model/free_machine\.' src/certify include/berth/certify >> "$bad"
# Capacity over time as planners and policies count it; the judge has its own.
grep -rnE 'berth/horizon/(capacity_profile|machine_rooms|timeline|[a-z]*_timeline)\.' src/certify include/berth/certify >> "$bad"

[ -s "$bad" ] || exit 0
echo "Against the layering:"
cat "$bad"
exit 1
