// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "berth/io/job_blocks.hpp"

namespace berth::io {

class ClusterNames;

/// Parses the lines of one block.
JobBlock parse_block(std::string_view lines, const ClusterNames& cluster_names);

/// All there will be, given that `so_far` are the first part (0 to 1) of it, and a tenth more:
/// lines differ in length, and unused reserve costs no memory. Chosen, not tuned.
inline std::size_t expected(std::size_t so_far, double part) {
  constexpr double kSpare = 1.1;
  return static_cast<std::size_t>(kSpare * static_cast<double>(so_far) / part);
}

}  // namespace berth::io
