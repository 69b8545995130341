// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"

namespace berth::apps {

/// Threads of this rank: those asked for, or its share of the cores (0). Where there is a core for
/// every thread of the ranks on this machine, ranks stay awake while they wait. Collective.
int share_cores(const comm::Communicator& comm, int asked);

}  // namespace berth::apps
