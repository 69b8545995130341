// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace berth::apps {

/// From now on SIGTERM and SIGUSR1 (Slurm's warning) ask for the plan found so far instead of
/// ending the program, and writing to a closed pipe does not end it. Call once, after MPI_Init.
/// @return  a flag that is non-zero once such a signal has arrived
const volatile std::sig_atomic_t* catch_signals();

}  // namespace berth::apps
