// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/base/bytes.hpp"
#include "berth/model/workload.hpp"

namespace berth::io {

/// Speeds of a job that are not 1, ascending by GPU type.
using SpeedRow = std::vector<std::pair<std::uint32_t, double>>;

/// What the lines of a block say. Lines count from 1 at its beginning, and so do, from 0, the
/// numbers of what its jobs share.
struct JobBlock {
  /// A GPU type that no machine has, at its first mention.
  struct NewType {
    std::string name;
    std::uint32_t line = 0;
    std::string field;
  };
  struct LineFault {
    std::uint32_t line = 0;
    std::string field, problem, hint;
  };

  model::Workload workload;          ///< without `speeds`
  std::vector<std::uint32_t> lines;  ///< by job
  std::vector<SpeedRow> speeds;      ///< of Job::speed 1, 2, ...
  std::vector<NewType> gpu_types;    ///< numbered after those of the cluster
  std::uint32_t line_count = 0;
  std::uint32_t first_spread = 0;  ///< line that first has the old key "spread"; 0: none
  std::optional<LineFault> fault;  ///< of the first bad line; the jobs are those before it
};

class ClusterNames;

/// The block that these lines are.
JobBlock parse_block(std::string_view lines, const ClusterNames& cluster_names);

/// As bytes that know their end, and back.
std::string packed(const JobBlock& block);
JobBlock unpack_block(ByteReader& bytes);

}  // namespace berth::io
