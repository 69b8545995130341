// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "yaml_fields.hpp"

#include <string>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Reads the list `machine_states` into a cluster whose machines are known: who is drained or
/// reserved, and what lies on a machine that is none of our jobs. A machine may be named once.
void read_machine_states(const YamlAt& list, model::Cluster& cluster);

/// The list as YAML; nothing when all machines are up and empty.
std::string machine_states_text(const model::Cluster& cluster);

}  // namespace berth::io
