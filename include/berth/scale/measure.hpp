// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/scale/point.hpp"

namespace berth::scale {

struct MeasureOptions {
  pipeline::PlanOptions plan;
  int repeats = 5;  ///< > 0
};

/// Plans the instance of rank 0 `repeats` times on all ranks of `comm`, from sending it to the
/// certificate, and tells what it took. Complete on rank 0. Collective; threads as they are set.
///
/// @param instance  rank 0's is planned as it lies there, and unchanged; the others' is not looked
/// at
///
/// Memory is that of the process, so measure small groups of ranks before large ones.
ScalingPoint measure(const comm::Communicator& comm, model::Instance& instance,
                     const MeasureOptions& options);

}  // namespace berth::scale
