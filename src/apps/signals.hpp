// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace berth::apps {

/// Holds SIGTERM and SIGUSR1 (Slurm's warning) back until one of the functions below is called:
/// MPICH takes SIGUSR1 for itself in MPI_Init, and a signal there may end one rank and leave the
/// others waiting. The program ends with exit code 4 if MPI has not started within 25 s and 1 s for
/// every 4 ranks, 300 s at most (BERTH_START_SECONDS in the environment; 0: no limit), or within
/// 10 s of a SIGTERM: MPI_Init waits for ever for a rank that ended while it was loaded, and for a
/// launcher that got a signal before it had set up its ranks. First line of main.
void hold_signals();

/// Ends these limits. Call right after MPI_Init.
void mpi_has_started();

/// Lets the signals end the program as they do by default; one that came already ends it now.
void release_signals();

/// From now on the signals, one that came already, and a first SIGINT (Ctrl-C; unless it is
/// ignored) ask for the plan found so far instead of ending the program, and writing to a closed
/// pipe does not end it. Call after MPI_Init.
/// @return  a flag that is non-zero once such a signal has arrived
const volatile std::sig_atomic_t* catch_signals();

}  // namespace berth::apps
