// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/generate/generate.hpp"
#include "berth/model/cluster.hpp"

namespace berth::generate {

inline constexpr std::int64_t kMachinesPerPod = 256;  ///< definition of the preset hetero

model::Cluster hetero_cluster(const GenerateOptions& options);

}  // namespace berth::generate
