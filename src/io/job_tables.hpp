// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interner.hpp"
#include "job_line.hpp"
#include "running_tables.hpp"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::io {

/// Puts checked lines together to a workload: looks names up in the cluster, keeps repeated parts
/// once. Adds GPU types that only jobs name to the cluster.
class JobTables {
 public:
  JobTables(model::Cluster& cluster, const std::string& file);

  void reserve(std::size_t jobs, std::size_t name_characters);

  /// `at` is the line of the file, for messages.
  void add(const JobLine& line, std::int64_t at);

  /// The workload; throws when an id came twice.
  model::Workload finish();

 private:
  using SpeedRow = std::vector<std::pair<std::uint32_t, double>>;  // type, speed; not 1; by type
  struct ShapeHash {
    std::size_t operator()(const model::Shape& shape) const;
  };
  struct FactorsHash {
    std::size_t operator()(const model::Factors& factors) const;
  };
  struct SpeedHash {
    std::size_t operator()(const SpeedRow& row) const;
  };

  void add_groups(const JobLine& line, model::Job& job);
  void look_up(const JobLine& line, model::Job& job) const;
  std::uint32_t gpu_type(std::string_view name, const char* field);
  std::uint64_t gpu_types(const JobLine& line);
  std::uint32_t speed_row(const JobLine& line);
  std::uint32_t factor_row(const model::Factors& factors);
  model::Communication communication(const JobLine& line, const model::Job& job) const;
  void fill_speeds();
  void refuse_repeated_ids() const;
  [[noreturn]] void fail(const char* field, const std::string& problem,
                         const std::string& hint) const;

  model::Cluster* cluster_;
  const std::string* file_;
  std::int64_t line_ = 0;  // being added
  model::Workload workload_;
  std::vector<std::uint32_t> lines_;  // by JobId
  RunningTables running_;
  std::unordered_map<std::string_view, RackId> racks_;
  std::unordered_map<std::string_view, PodId> pods_;
  Interner<model::Shape, ShapeHash> shapes_;
  Interner<model::Factors, FactorsHash> factors_;
  Interner<std::string> labels_;
  Interner<SpeedRow, SpeedHash> speeds_;
  std::vector<SpeedRow> speed_rows_;
};

}  // namespace berth::io
