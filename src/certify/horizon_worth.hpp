// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// What planned jobs cannot have of a machine in [from, to).
struct Closure {
  MachineId machine;
  std::int64_t from = 0, to = 0;
  std::uint64_t devices = 0;
  std::int32_t milli = 1000;  ///< of each device
  model::Resources taken = {};
  bool all = false;  ///< no task may be there
};

/// Machines that are not up, content that is no job, running jobs to their ends, maintenance, and
/// reservations that no waiting job may use. O(machines + tasks of running jobs).
std::vector<Closure> closures(const model::InstanceView& instance, const model::Horizon& horizon);

/// Factors of shapes (model::PriceCurves) by shape and price curve.
///
/// *Valid for any factors >= 0.* At every moment the tasks on a machine are a content that its free
/// room holds, so the sum of their factors is at most the machine's worth, the largest sum of any
/// content. Multiply by lambda(t) and integrate, as for GPUs.
class ShapeFactors {
 public:
  /// @param types  by price curve
  /// @throws InputError when a factor is negative, too large, given twice or of nothing
  ShapeFactors(const model::InstanceView& instance, std::span<const GpuTypeId> types,
               const model::PriceCurves& prices);

  /// False: tasks pay for the GPUs that they take.
  [[nodiscard]] bool given() const { return !factors_.empty(); }
  /// Tasks without GPUs may be on any machine: they pay where all machines are of one curve and
  /// have room for so many of them only, and nothing elsewhere.
  [[nodiscard]] std::int64_t operator()(ShapeId shape, std::size_t curve) const {
    return factors_[shape.index() * curves_ + curve];
  }

 private:
  void read(const model::InstanceView& instance, std::span<const GpuTypeId> types,
            const model::PriceCurves::ShapeFactor& raw);

  std::size_t curves_;
  std::vector<std::int64_t> factors_;
};

/// By price curve: the sum of the machines' worths over time, from `now` on. The largest content of
/// one machine is exact within counted work, and an upper bound beyond it (content_bound.hpp).
/// O(closures log + contents of the different machines).
std::vector<std::vector<horizon::CapacityStep>> worth_in_time(const model::InstanceView& instance,
                                                              std::int64_t now,
                                                              std::span<const GpuTypeId> types,
                                                              std::span<const Closure> closures,
                                                              const ShapeFactors& factors);

/// The same without factors: what closures leave of every GPU, in thousandths, as rents count GPUs.
/// Tasks with shares may be beside shares that run. O((machines + closures) log).
std::vector<std::vector<horizon::CapacityStep>> worth_of_devices(const model::Cluster& cluster,
                                                                 std::int64_t now,
                                                                 std::span<const GpuTypeId> types,
                                                                 std::span<const Closure> closures);

}  // namespace berth::certify
