// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "berth/papers/paper_policies.hpp"
#include "berth/papers/pd_ors/slot_instance.hpp"
#include "berth/policy/state.hpp"

namespace berth::papers::pd_ors {

/// The jobs of a simulation as PD-ORS and OASiS see them. A sample is a second of work at speed 1;
/// resources are whole GPUs, CPU cores, GiB, Gbit/s and kW, those that all machines limit.
struct TrainingWorld {
  /// Jobs by JobId, not by arrival; slot 0 is the first in which one may run. It ends so many
  /// slots after the last arrival that all jobs, one after another, could end.
  SlotInstance instance = {};
  std::int64_t first_slot = 0;  ///< slot 0 on the axis of State::now, in slots
  std::int64_t slot = 0;        ///< microseconds
  struct Choices {
    std::uint32_t workers = 0, servers = 0;              ///< task groups
    std::map<std::int32_t, std::uint32_t> by_crew = {};  ///< workers of a crew: configuration
  };
  std::vector<Choices> choices = {};  ///< by JobId
};

/// Slots beyond the last arrival, at most.
inline constexpr std::int64_t kMostSlots = 1000;

/// What can be refused before a simulation begins.
/// @param policy  that needs the data, for the message
/// @throws InputError: jobs without a profile of the model parameter_server, with a domain, a share
///         of a GPU, servers with GPUs or no configuration of workers beside servers, by name;
///         several GPU types; fewer than two machines
void check_training_jobs(std::string_view policy, const PaperWorld& world);

/// Distinct numbers of workers of the job, ascending, with the fewest servers of each.
struct TrainingCrews {
  std::uint32_t workers = 0;  ///< task group; that of the servers is 1 - workers
  std::vector<Crew> crews = {};
};
/// @pre check_training_jobs
[[nodiscard]] TrainingCrews crews_of(const PaperWorld& world, JobId id);

/// Whole GPUs, then the resources that all machines limit: by machine, 0 where it is down; and of a
/// task.
[[nodiscard]] std::vector<double> capacity_of(const model::Instance& instance);
[[nodiscard]] std::vector<double> demand_of(const model::Instance& instance,
                                            const model::Shape& shape);

/// @pre check_training_jobs
/// @throws InputError: more than 2^26 slots x machines x resources
[[nodiscard]] TrainingWorld training_world(std::string_view policy, const PaperWorld& world,
                                           const policy::State& state, std::int64_t slot);

}  // namespace berth::papers::pd_ors
