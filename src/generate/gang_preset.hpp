// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_mix.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace berth::generate {

/// A GPU type and its fraction of the pods.
struct TypeShare {
  std::string_view name;
  double share;
};

/// Parameters of the presets whose jobs are gangs of whole GPUs (philly-like, llm-like).
struct GangPreset {
  std::span<const SizeShare> mix;
  std::span<const TypeShare> types;
  std::int64_t racks_per_pod = 8;
  double two_types = 0.0;    ///< fraction of pods whose second half of racks is of another type
  std::size_t profiles = 1;  ///< speeds are drawn from this many rows of kProfiles
  /// fraction of the gangs from 16 GPUs with workers of 4 GPUs, not of 8
  double small_workers = 0.0;
  double home = 0.0;  ///< fraction of the jobs that have a home pod
  /// fraction of the gangs that fit in half a pod and may not leave their pod
  double one_pod = 0.0;
};

}  // namespace berth::generate
