// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Pinned jobs become immovable content of their machines; then everything that runs has room on
/// its machine, or InputError is thrown.
/// @param workload  its jobs are not looked at
/// @param shapes    of the running tasks
/// @param lines     of the file, by JobId
void pin_running(model::Cluster& cluster, const model::Workload& workload,
                 std::span<const ShapeId> shapes, std::span<const std::uint32_t> lines,
                 const std::string& file);

}  // namespace berth::io
