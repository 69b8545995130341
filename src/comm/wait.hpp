// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace berth::comm {

/// Throws MpiError when `code` is an MPI error.
void check(int code, const char* call);

/// Completes the request without blocking inside MPI: MPICH waits by spinning, which with more
/// ranks than cores steals the cores from the very ranks it waits for.
/// @throws SystemError when the launcher has ended and the request is not complete 10 s after its
///         start: a rank may have ended too, and nobody tells
void wait(MPI_Request& request, const char* call);

/// As wait(), but at most 30 s, or 5 s without launcher. @return  false: not complete by then
bool wait_for_end(MPI_Request& request, const char* call);

/// Takes the present parent of this program for its launcher.
void watch_launcher();

/// Completes the request for a rank that is idle for seconds: it polls a hundred times a second.
void wait_long(MPI_Request& request, const char* call);

}  // namespace berth::comm
