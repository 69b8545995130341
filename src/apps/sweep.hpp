// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "replay.hpp"

#include "berth/base/error.hpp"
#include "berth/comm/communicator.hpp"

namespace berth::apps {

/// `berth simulate --sweep`: one replay for each policy, seed and load, in that order of nesting.
/// Rank r makes the replays r, r + size, ...; each writes a folder of its own in --out, which then
/// has the table of all of them, sweep.csv and sweep.json. No file depends on the ranks.
/// Collective. @throws InputError
ExitCode run_sweep(const comm::Communicator& comm, const SimulateFlags& flags);

/// @throws InputError: --seeds or --loads without --sweep
void refuse_lists_without_sweep(const SimulateFlags& flags);

}  // namespace berth::apps
