// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training_jobs.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/papers/paper_policies.hpp"
#include "berth/papers/pd_ors/admission.hpp"
#include "berth/policy/policy.hpp"

namespace berth::papers {
namespace pd_ors {

/// PD-ORS and OASiS in time. Each job is asked when it arrives, once: it is admitted with the
/// machines of each of its slots, or refused for good (State::refuse). At every begin of a slot the
/// jobs get what they have booked; a job without anything booked in a slot is stopped. What the
/// prices know of later jobs is their range, as in the papers.
///
/// A job that ends early gives back what it had booked. One whose slots were not enough, because
/// machines failed or estimates were wrong, runs on where room is left.
class SlotPolicy final : public policy::Policy {
 public:
  enum class Rule : std::uint8_t { pd_ors, oasis };
  static constexpr policy::Micros kSlot = 3600 * policy::kSecond;  ///< unless --slot is given

  /// @throws InputError as check_training_jobs
  SlotPolicy(const PaperWorld& world, Rule rule);
  void decide(policy::State& state) override;

 private:
  void begin(const policy::State& state);
  void admit(policy::State& state, JobId id);
  void carry_out(policy::State& state, std::int32_t slot);
  /// What the job has booked in the slot; null: nothing.
  [[nodiscard]] const SlotShare* booked(JobId id, std::int32_t slot) const;
  [[nodiscard]] bool holds(const policy::State& state, JobId id, const SlotShare& share) const;
  bool start(policy::State& state, JobId id, const SlotShare& share) const;
  void run_on(policy::State& state, JobId id) const;

  PaperWorld world_;
  Rule rule_;
  TrainingWorld training_;
  std::unique_ptr<const SlotSolver> solver_;
  std::optional<PrimalDualAdmission> admission_;  ///< from the first decision on
  std::vector<JobSchedule> schedules_;            ///< by JobId
  std::vector<JobId> admitted_;                   ///< that have not ended, by admission
};

}  // namespace pd_ors

/// @pre a PetscSession lives
std::unique_ptr<policy::Policy> make_pd_ors(const PaperWorld& world);
std::unique_ptr<policy::Policy> make_oasis(const PaperWorld& world);

}  // namespace berth::papers
