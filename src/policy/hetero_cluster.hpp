// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/model/cluster.hpp"
#include "berth/policy/generate.hpp"

namespace berth::policy {

inline constexpr std::int32_t kGpusPerMachine = 8;
inline constexpr std::int64_t kMachinesPerPod = 256;

/// Stages of the generator: the second part of every random key.
enum class Draw : std::uint64_t { outfit, order, job };

model::Cluster hetero_cluster(const GenerateOptions& options);

}  // namespace berth::policy
