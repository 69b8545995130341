// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "berth/policy/policy.hpp"
#include "berth/policy/time.hpp"

namespace berth::sim {

/// What time shares are chosen for.
enum class ShareObjective : std::uint8_t {
  max_min,  ///< largest least progress of a job for its GPUs and weight
  max_sum,  ///< largest sum of progress
};

struct SharePolicyOptions {
  ShareObjective objective = ShareObjective::max_min;
  int parts =
      1;  ///< POP: random parts of the jobs, each with as large a part of the GPUs, 1 .. 1024
  policy::Micros round = 360 * policy::kSecond;  ///< between two decisions that stop jobs, > 0
};

/// The policy of a name: max-min, max-sum, or pop-K (max-min in K parts). Nothing: no such policy.
/// @throws InputError for pop-K with a number out of range
std::optional<SharePolicyOptions> share_policy_options(std::string_view name);

/// Shares of time on GPU types, given out in rounds (Gavel: Narayanan et al., OSDI 2020), with jobs
/// and GPUs split in random parts (POP: Narayanan et al., SOSP 2021). docs/simulate.md.
///
/// The shares are chosen anew in the first round after a change of the jobs or machines. A round
/// gives GPUs to the pairs of job and type in order of time received / time owed; running jobs that
/// get none stop. Whenever GPUs are idle every job that fits starts.
/// O(jobs x types log(jobs)) a round beside the shares.
std::unique_ptr<policy::Policy> make_share_policy(const SharePolicyOptions& options);

}  // namespace berth::sim
