// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::apps {

/// From now on SIGTERM and SIGUSR1 (Slurm's warning) ask for the plan found so far instead of
/// ending the process. Call once, after MPI and PETSc are up: both set handlers of their own.
void catch_signals();

/// True once such a signal came.
bool signal_came();

}  // namespace berth::apps
