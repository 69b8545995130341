// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

namespace berth::solver {

/// Packs machines with idle GPUs anew, one by one, with their own tasks and the jobs still open,
/// and keeps what is worth more; then machines that are not used at all. While required jobs are
/// open, every kind of machine is looked at. Edits both. Returns the gain (scaled).
double refill(const Problem& problem, Scope& scope, Usage& usage);

}  // namespace berth::solver
