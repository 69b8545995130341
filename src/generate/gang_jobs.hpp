// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gang_preset.hpp"

#include "berth/generate/generate.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::generate {

/// Jobs for a cluster made by gang_cluster with the same options and preset. O(jobs).
model::Workload gang_jobs(const GenerateOptions& options, const GangPreset& preset,
                          const model::Cluster& cluster);

}  // namespace berth::generate
