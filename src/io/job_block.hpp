// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/model/workload.hpp"

namespace berth::io {

/// Speeds of a job that are not 1, ascending by GPU type.
using SpeedRow = std::vector<std::pair<std::uint32_t, double>>;

/// Contents of a block's lines. Line numbers start at 1 at the beginning of the block; numbers of
/// shared rows start at 0 and count within the block.
struct JobBlock {
  /// A GPU type that no machine has, and the line that first names it.
  struct NewType {
    std::string name;
    std::uint32_t line = 0;
    std::string field;
  };
  struct LineFault {
    std::uint32_t line = 0;
    std::string field, problem, hint;
  };

  model::Workload workload;          ///< its table `speeds` is empty
  std::vector<std::uint32_t> lines;  ///< by job
  std::vector<SpeedRow> speeds;      ///< of Job::speed 1, 2, ...
  std::vector<NewType> gpu_types;    ///< numbered after those of the cluster
  std::uint32_t line_count = 0;
  std::uint32_t first_spread = 0;  ///< first line with the old key "spread"; 0: none
  std::optional<LineFault> fault;  ///< error of the first bad line; the jobs are those before it
};

template <class Archive>
void describe(Archive& archive, JobBlock::NewType& type) {
  archive(type.name, type.line, type.field);
}
template <class Archive>
void describe(Archive& archive, JobBlock::LineFault& fault) {
  archive(fault.line, fault.field, fault.problem, fault.hint);
}
template <class Archive>
void describe(Archive& archive, JobBlock& block) {
  model::Workload& w = block.workload;
  archive(w.job_names, w.jobs, w.groups, w.shapes, w.factors, w.labels, w.running);
  archive(w.running_tasks, block.lines, block.speeds, block.gpu_types, block.line_count);
  archive(block.first_spread, block.fault);
}

class ClusterNames;

/// Parses the lines of one block.
JobBlock parse_block(std::string_view lines, const ClusterNames& cluster_names);

}  // namespace berth::io
