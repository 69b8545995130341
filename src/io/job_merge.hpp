// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster_names.hpp"
#include "job_tables.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "berth/io/job_blocks.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::io {

/// Joins blocks in file order, tables and records, where one rank reads all.
class JobMerge {
 public:
  JobMerge(model::Cluster& cluster, std::string file) : tables_(cluster, std::move(file)) {}

  void add(JobBlock block);
  void reserve(double part);
  model::Workload finish();

 private:
  TableMerger tables_;
  model::JobSet records_;
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
