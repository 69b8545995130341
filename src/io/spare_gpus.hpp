// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "yaml_fields.hpp"

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Largest penalty of a soft limit, per GPU, as weights (docs/formats.md)
inline constexpr double kMaxPenalty = 0x1p40;

/// Reads the list `spare` into a cluster whose machines are known and whose GPU types have their
/// final numbers: GPUs of one type that a pod, or each pod that has the type, keeps free.
void read_spare(const YamlAt& list, model::Cluster& cluster);

}  // namespace berth::io
