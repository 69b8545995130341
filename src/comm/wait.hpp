// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace berth::comm {

/// Throws MpiError when `code` is an MPI error.
void check(int code, const char* call);

/// Completes the request without blocking inside MPI: MPICH waits by spinning, which with more
/// ranks than cores steals the cores from the very ranks it waits for.
void wait(MPI_Request& request, const char* call);

/// Completes the request for a rank that is idle for seconds: it polls a hundred times a second.
void wait_long(MPI_Request& request, const char* call);

}  // namespace berth::comm
