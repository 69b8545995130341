// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "berth/papers/paper_policies.hpp"

namespace berth::papers {

/// GADGET in time: every slot all GPUs are divided anew, over the configurations of elastic jobs
/// (others have one size), by the utility weight x sqrt(work done) of the paper's first use case:
/// always the step of most utility per GPU. The machines choose the places. O(steps jobs
/// configurations log jobs) a decision
class GadgetPolicy final : public policy::Policy {
 public:
  static constexpr policy::Micros kSlot = 60 * policy::kSecond;  ///< not stated for the paper

  void decide(policy::State& state) override;
  bool save(ByteWriter& /*writer*/) const override { return true; }
};

std::unique_ptr<policy::Policy> make_gadget(const PaperWorld& world);

}  // namespace berth::papers
