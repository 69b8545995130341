// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/model/cluster.hpp"
#include "berth/policy/generate.hpp"

namespace berth::policy {

inline constexpr std::int64_t kMachinesPerPod = 256;

model::Cluster hetero_cluster(const GenerateOptions& options);

}  // namespace berth::policy
