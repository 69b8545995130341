// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "overlap_jobs.hpp"

#include <memory>

#include "berth/papers/paper_policies.hpp"
#include "berth/policy/policy.hpp"

namespace berth::papers {

/// Policies of jobs with workers and servers (overlap profiles): at every decision the waiting jobs
/// are admitted by a knapsack of what they reserve beside the reservations of running jobs, each
/// with a crew among its configurations; no job is stopped. A job without utility left counts 1e-9
/// of its value: it runs when nothing else does. @pre a PetscSession lives
/// @throws InputError: jobs without the data, by name
std::unique_ptr<policy::Policy> make_smd(const PaperWorld& world);      ///< fastest crew
std::unique_ptr<policy::Policy> make_optimus(const PaperWorld& world);  ///< greedy, from the least
std::unique_ptr<policy::Policy> make_esw(const PaperWorld& world);      ///< workers = servers

namespace smd {

/// Index into the crews that the rule chooses; none: the size.
using CrewRule = std::size_t (*)(const OfferedJob& job);
[[nodiscard]] std::size_t fastest_offer(const OfferedJob& job);
/// From the crew of fewest tasks, the next larger number of workers or of servers that gains more
/// time (ties: servers) while one gains.
[[nodiscard]] std::size_t greedy_offer(const OfferedJob& job);
/// As many workers as servers, the most of both.
[[nodiscard]] std::size_t equal_offer(const OfferedJob& job);

}  // namespace smd
}  // namespace berth::papers
