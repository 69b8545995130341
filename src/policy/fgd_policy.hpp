// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fragmentation.hpp"
#include "list_policy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/policy/policy.hpp"

namespace berth::policy {

/// Fragmentation gradient descent (Weng et al., ATC 2023): in order of arrival every job that fits
/// starts, each task on the machine and device where the expected fragmentation grows least. Growth
/// counts as in the authors' simulator, in the hundredths of a logistic function that cover about
/// 40 thousandths each; ties: the machine of the least name. The tasks of a job are placed one
/// after the other, and its GPU type is the one with the least growth. A job with a narrow domain,
/// one with rules about machines and one that the descent does not fit, is placed by best fit.
///
/// The tasks of all jobs, later ones too, are typical: the paper assumes that their mix is known.
/// O(machines) a task, and O(typical tasks x devices) for each machine that has changed.
class Fgd final : public Policy {
 public:
  void decide(State& state) override;
  [[nodiscard]] JobId next() const override {
    return waiting_.empty() ? JobId() : waiting_.entries().front().job;
  }
  [[nodiscard]] bool starts_all_that_fit() const override { return true; }
  bool save(ByteWriter& writer) const override {
    writer(waiting_);
    return true;
  }
  void restore(ByteReader& reader) override { reader(waiting_); }

 private:
  /// A task of one shape on a machine, at its best device.
  struct Growth {
    double milli = 0.0;         ///< by which the expected fragmentation grows
    std::uint64_t devices = 0;  ///< of the task
    std::int32_t taken = 0;     ///< thousandths of each
    bool fits = false;
  };
  struct CachedGrowth {
    std::uint64_t changes = 0;  ///< of the machine when it was computed
    std::uint32_t shape = ~std::uint32_t{0};
    Growth growth;
  };
  struct Trial {
    std::vector<model::TaskPlacement> tasks;
    double growth = 0.0;
  };

  void prepare(const State& state);
  bool start(State& state, JobId job);
  bool place(const State& state, const Demand& demand, GpuTypeId type, Trial& trial);
  bool place_task(const State& state, const Demand& demand, const DemandGroup& group,
                  GpuTypeId type, Trial& trial);
  [[nodiscard]] bool precedes(double growth, std::size_t machine, double other,
                              std::size_t other_machine) const;
  [[nodiscard]] Growth growth_on(const model::FreeMachine& machine, GpuTypeId type,
                                 const model::Shape& shape) const;
  const Growth& cached(const FreeMachines& free, std::size_t machine, const model::Shape& shape);

  WaitingList waiting_;
  std::vector<TypicalTask> typical_;
  std::vector<std::uint32_t> name_rank_;  ///< by machine, in order of the names
  std::vector<model::Shape> shapes_;      ///< distinct, ascending
  std::size_t slots_ = 0;                 ///< of the cache for each machine
  std::vector<CachedGrowth> cache_;       ///< [machine x slots + shape mod slots]
  /// Machines that hold tasks of the trial: index in `edited_`, -1: none.
  std::vector<std::int32_t> edited_at_;
  std::vector<model::FreeMachine> edited_;
};

}  // namespace berth::policy
