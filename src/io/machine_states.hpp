// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "yaml_fields.hpp"

#include <string>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Reads the list `machine_states` into a cluster whose machines are known: which machines are
/// drained or reserved, and the content of machines that no job of the file accounts for. Each
/// machine may be named once.
void read_machine_states(const YamlAt& list, model::Cluster& cluster);

/// The list as YAML; empty when all machines are up and empty.
std::string machine_states_text(const model::Cluster& cluster);

}  // namespace berth::io
