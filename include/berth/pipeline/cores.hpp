// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"

namespace berth::pipeline {

/// Number of threads of this rank: `asked`, or for 0 its share of the cores. If every thread of the
/// ranks on this machine has a core, ranks poll while they wait (`comm::stay_awake`). Collective.
int share_cores(const comm::Communicator& comm, int asked);

}  // namespace berth::pipeline
