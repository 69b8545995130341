// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster_names.hpp"
#include "interner.hpp"
#include "job_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "berth/io/job_blocks.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::io {

/// Joins blocks in file order (JobMerger): renumbers each block's own numbers to those that one
/// reader of the whole text would have given.
class JobMerge {
 public:
  JobMerge(model::Cluster& cluster, std::string file);

  void add(const JobBlock& block);
  MergedJobs take();
  void reserve(double part);
  model::Workload finish();

 private:
  void add_types(const JobBlock& block);
  void add_speeds(const JobBlock& block);
  void add_jobs(const JobBlock& block);
  void add_running(const model::Workload& from);
  [[nodiscard]] std::uint64_t mask_of(std::uint64_t in_block) const;
  [[nodiscard]] std::uint32_t type_of(std::uint32_t in_block) const;
  [[noreturn]] void fail(std::uint32_t line, const std::string& field, const std::string& problem,
                         const std::string& hint) const;
  void refuse_repeated_ids() const;
  void fill_speeds();

  model::Cluster* cluster_;
  std::string file_;
  std::size_t known_types_;  // of the cluster, before any block
  model::Workload workload_;
  std::size_t taken_ = 0;             // number of jobs that have left the workload
  std::vector<ShapeId> ran_;          // by running task
  std::vector<std::uint32_t> lines_;  // by JobId
  std::uint32_t lines_before_ = 0;    // lines in all earlier blocks
  std::uint32_t first_spread_ = 0;    // first line with the old key; 0: none
  Interner<model::Shape, ShapeHash> shapes_;
  Interner<model::Factors, FactorsHash> factors_;
  Interner<std::string> labels_;
  Interner<SpeedRow, SpeedHash> speeds_;
  std::vector<SpeedRow> speed_rows_;

  /// Numbers in the whole, by the block's number.
  struct Numbers {
    std::vector<std::uint32_t> types, shapes, factors, labels, speeds;
  };
  Numbers of_;
};

/// Adds jobs one by one; throws a fault at once.
class SerialJobs {
 public:
  SerialJobs(model::Cluster& cluster, const std::string& file)
      : cluster_names_(cluster), tables_(cluster_names_), merge_(cluster, file) {}

  /// `at` is the line number in the file, for messages.
  void add(const JobLine& line, std::int64_t at) {
    if (!tables_.add(line, static_cast<std::uint32_t>(at))) merge_.add(tables_.take());
  }
  model::Workload finish() {
    merge_.add(tables_.take());
    return merge_.finish();
  }

 private:
  ClusterNames cluster_names_;
  JobTables tables_;
  JobMerge merge_;
};

}  // namespace berth::io
