// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Turns pinned jobs into immovable content of their machines. @throws InputError unless every
/// running job fits on its machines
/// @param workload  its jobs are not read
/// @param shapes    of the running tasks
/// @param lines     line in the file, by JobId
void pin_running(model::Cluster& cluster, const model::WorkloadTables& tables,
                 std::span<const ShapeId> shapes, std::span<const std::uint32_t> lines,
                 const std::string& file);

}  // namespace berth::io
