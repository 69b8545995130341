// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::apps {

/// From now on SIGTERM and SIGUSR1 (Slurm's warning) ask for the plan found so far instead of
/// ending the program, and writing to a closed pipe does not end it. Call once, after MPI_Init.
void catch_signals();

/// True once such a signal came.
bool signal_came();

}  // namespace berth::apps
