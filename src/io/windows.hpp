// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "yaml_fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Reads the list `windows` into a cluster whose machines and queues are known.
void read_windows(const YamlAt& list, model::Cluster& cluster);

/// The list as YAML; empty without windows.
std::string windows_text(const model::Cluster& cluster);

/// A job that holds machines in [since, end).
struct HeldTime {
  std::string_view name;
  QueueId queue;
  std::int64_t since = 0;
  std::int64_t end = 0;
};

/// The first window that closes the machine to the job while the job holds it, or null. O(windows
/// log machines)
const model::Window* collision(const model::Cluster& cluster, MachineId machine,
                               const HeldTime& job);

}  // namespace berth::io
