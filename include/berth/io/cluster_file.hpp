// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Reads a cluster in YAML (docs/formats.md). `file` names the text in messages.
/// @throws InputError with line and field: broken YAML, unknown or repeated keys, ids given twice,
///         numbers out of range, names that do not exist
/// O(text + machines).
model::Cluster parse_cluster(std::string_view text, const std::string& file);

/// The cluster as YAML text. Consecutive machines of one class and rack become ranges, so 100,000
/// regular machines take a page; parse_cluster of the text gives an equal cluster
/// (instance_digest).
/// @throws InputError when a machine's name contains a bracket, which would be read as a range
std::string cluster_text(const model::Cluster& cluster);

model::Cluster read_cluster(const std::string& path);
void write_cluster(const std::string& path, const model::Cluster& cluster);

}  // namespace berth::io
