// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/generate/generate.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::generate {

/// Jobs for a cluster made by hetero_cluster with the same options.
model::Workload hetero_jobs(const GenerateOptions& options, const model::Cluster& cluster);

}  // namespace berth::generate
