// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// GPU thousandths over all tasks of the job.
std::int64_t milli_of(const model::Workload& workload, const model::Job& job);

/// True when some task of the job takes a GPU or a share of one.
bool uses_gpu(const model::Workload& workload, const model::Job& job);

/// True when the job takes GPUs, and only whole ones.
bool is_countable(const model::Workload& workload, const model::Job& job);

/// One job under one objective: what it is worth by GPU type (invalid without GPUs), width and
/// distance of the farthest task from home (Level::machine for a job without a home).
class JobWorth {
 public:
  JobWorth(const model::Instance& instance, model::Objective kind, const model::Job& job);

  [[nodiscard]] double at(GpuTypeId type, model::Level width, model::Level distance) const;

 private:
  const model::Workload* workload_;
  const model::Job* job_;
  double base_ = 0.0;
  bool flat_ = false;  ///< allocate: factors and speeds do not count
};

/// Narrowest domain that holds all tasks, and the distance of the farthest from home.
struct Reach {
  model::Level width = model::Level::machine;
  model::Level distance = model::Level::machine;
  GpuTypeId type;  ///< of the first task with a device
};
Reach reach(const model::Instance& instance, const model::JobPlacement& placed);

}  // namespace berth::certify
