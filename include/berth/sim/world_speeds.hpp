// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/policy/demand.hpp"
#include "berth/speed/profiles.hpp"

namespace berth::sim {

/// Speeds of jobs by their placement: profiles and interference over an instance.
class WorldSpeeds {
 public:
  /// Sets the references of jobs that have none: what such a job does alone on its best type.
  /// @param instance, profiles  are referred to
  /// @throws InputError: a job whose profile has no speed on any GPU type that it may use
  WorldSpeeds(const model::Instance& instance, speed::Profiles& profiles, double interference);

  [[nodiscard]] const speed::Model& model() const { return model_; }
  [[nodiscard]] bool has_profile(JobId job) const { return profiles_->has(job); }

  /// Samples of an iteration unless a policy chooses them; 0: those of the model.
  [[nodiscard]] std::int64_t batch_of(JobId job) const {
    return profiles_->has(job) ? profiles_->jobs[job.index()].batch : 0;
  }
  /// Tasks by machine, ascending. Workers of rings are GPUs, of other jobs tasks.
  [[nodiscard]] std::vector<speed::MachineTasks> machines_of(
      JobId job, std::span<const model::TaskPlacement> tasks) const;

  /// The demand with speeds by the model, on the fewest machines of each type and alone, fastest
  /// first; types without speed are left out. @param configuration  -1: the job is not elastic
  [[nodiscard]] policy::Demand with_speeds(JobId job, policy::Demand demand,
                                           std::int32_t configuration) const;

 private:
  [[nodiscard]] double alone(JobId job, const policy::Demand& demand, GpuTypeId type,
                             std::int32_t configuration) const;
  void set_references();
  static std::vector<JobId> without_reference(speed::Profiles& profiles);

  const model::Instance* instance_;
  speed::Profiles* profiles_;
  std::vector<JobId> unset_;  ///< jobs whose reference the file does not give
  speed::ProfiledSpeeds model_;
  std::vector<std::vector<MachineId>> machines_of_type_;  ///< largest first
};

}  // namespace berth::sim
