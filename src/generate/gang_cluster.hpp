// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gang_preset.hpp"

#include "berth/generate/generate.hpp"
#include "berth/model/cluster.hpp"

namespace berth::generate {

/// Pods of equal racks of eight machines of eight GPUs. O(machines).
model::Cluster gang_cluster(const GenerateOptions& options, const GangPreset& preset);

}  // namespace berth::generate
