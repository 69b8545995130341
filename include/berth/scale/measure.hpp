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

/// Plans the instance of rank 0 `repeats` times on all ranks of `comm`, from its distribution to
/// the certificate, and returns the times and traffic. Complete on rank 0. Collective; the number
/// of threads is not changed.
///
/// @param instance  rank 0's is planned in place and is unchanged afterwards; the others' is
/// ignored
///
/// Memory is the process's peak, so measure small groups of ranks before large ones.
ScalingPoint measure(const comm::Communicator& comm, model::Instance& instance,
                     const MeasureOptions& options);

}  // namespace berth::scale
