// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::bench {

/// An instance with all inputs of the kernels.
struct Subject {
  explicit Subject(model::Instance given);
  Subject(const Subject&) = delete;

  model::Instance instance;
  planner_model::Valuation value;
  planner_model::Pools pools;
  std::vector<MachineId> machines;
  std::vector<JobId> jobs;
  std::int64_t workload_bytes;  ///< of the workload's columns, without names
};

/// The hetero preset, seed 1, load 1.2; generated on first use and kept.
const Subject& hetero(std::int64_t gpus);

/// single_task_instance, made on first use.
const Subject& single_tasks(std::int64_t machines);

/// bench/rack_placement, made on first use. @pre has_rack_placement(name)
const Subject& rack_placement(const std::string& name);
bool has_rack_placement(const std::string& name);

/// A plan of the instance by the whole planner, made on first use.
const model::Plan& plan_of(const Subject& subject);

}  // namespace berth::bench
