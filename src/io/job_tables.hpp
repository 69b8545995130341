// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster_names.hpp"
#include "interner.hpp"
#include "job_block.hpp"
#include "job_line.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/model/workload.hpp"

namespace berth::io {

struct ShapeHash {
  std::size_t operator()(const model::Shape& shape) const;
};
struct FactorsHash {
  std::size_t operator()(const model::Factors& factors) const;
};
struct RulesHash {
  std::size_t operator()(const model::PlacementRules& rules) const;
};
struct TimeRulesHash {
  std::size_t operator()(const model::TimeRules& rules) const;
};
struct UtilityHash {
  std::size_t operator()(const model::Utility& utility) const;
};
struct ConfigurationsHash {
  std::size_t operator()(const std::vector<model::Configuration>& configurations) const;
};
struct SpeedHash {
  std::size_t operator()(const SpeedRow& row) const;
};

/// Joins checked lines to a block: looks names up in the cluster and keeps repeated rows once.
class JobTables {
 public:
  explicit JobTables(const ClusterNames& cluster_names);

  /// `at` is the line number in the block. False: this line ends the block, because it is bad or
  /// because it names one GPU type too many; the merge then throws.
  bool add(const JobLine& line, std::uint32_t at);

  /// Ends the block at this line (as `add` does).
  void fail(const InputError& error);

  JobBlock take() { return std::move(block_); }

 private:
  struct TooManyTypes {};

  void add_job(const JobLine& line);
  void add_groups(const JobLine& line, model::Job& job);
  void look_up(const JobLine& line, model::Job& job) const;
  std::uint32_t gpu_type(std::string_view name, const char* field);
  std::uint64_t gpu_types(const JobLine& line);
  std::uint32_t speed_row(const JobLine& line);
  std::uint32_t factor_row(const model::Factors& factors);
  std::vector<model::LicenseUse> licenses(const JobLine& line) const;
  std::uint32_t rules_row(const JobLine& line);
  std::uint32_t time_row(const JobLine& line);
  model::Communication communication(const JobLine& line, const model::Job& job) const;
  [[noreturn]] void fail(const char* field, const std::string& problem,
                         const std::string& hint) const;

  const ClusterNames* cluster_names_;
  std::uint32_t line_ = 0;  // the line being added
  JobBlock block_;
  Interner<model::Shape, ShapeHash> shapes_;
  Interner<model::Factors, FactorsHash> factors_;
  Interner<model::PlacementRules, RulesHash> rules_;
  Interner<model::TimeRules, TimeRulesHash> time_rules_;
  Interner<model::Utility, UtilityHash> utilities_;
  Interner<std::vector<model::Configuration>, ConfigurationsHash> configurations_;
  Interner<std::string> labels_;
  Interner<SpeedRow, SpeedHash> speeds_;
};

}  // namespace berth::io
