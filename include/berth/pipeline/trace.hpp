// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/comm/communicator.hpp"

namespace berth::pipeline {

/// The events recorded by all ranks (`Communicator::record_events`) as one JSON text for trace
/// viewers, on rank 0; empty elsewhere. Collective; about 90 bytes an event.
std::string gather_trace(const comm::Communicator& comm);

}  // namespace berth::pipeline
