// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "draws.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/model/workload.hpp"

namespace berth::generate {

/// Builds a workload job by job ("job-000007"); keeps repeated shapes, rows and labels once.
class WorkloadBuilder {
 public:
  /// @param types  number of GPU types of the cluster, the length of a row of speeds
  WorkloadBuilder(std::size_t jobs, std::size_t types, std::vector<std::string> labels);

  /// Starts a job named by its number, which arrives within its 1/`jobs` of a day.
  model::Job start_job(Dice& dice);
  /// Adds a group of tasks to the job started last.
  void add_group(const model::Shape& shape, std::int32_t count, std::uint32_t label);
  void finish_job(model::Job job);

  std::uint32_t factor_row(const model::Factors& factors);
  void add_speed_row(const std::vector<double>& row);  ///< rows count from 1; row 0 is 1 everywhere

  model::Workload take() { return std::move(out_); }

 private:
  model::Workload out_;
  std::size_t jobs_;
  std::map<model::Shape, ShapeId> shapes_;
};

}  // namespace berth::generate
