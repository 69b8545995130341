// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "berth/model/instance.hpp"
#include "berth/policy/policy.hpp"
#include "berth/speed/profiles.hpp"

namespace berth::papers {

/// What a published scheduler knows beside the state: the jobs file, the profiles, a seed.
struct PaperWorld {
  const model::Instance& instance;
  const speed::Profiles& profiles;
  std::uint64_t seed = 1;
};

struct PaperPolicyRow {
  std::string_view name;
  std::string_view help;  ///< one line: what it does and whose it is
  bool preemptive;        ///< stops or resizes running jobs
  /// Why a single decision of it is no plan; empty: it is one.
  std::string_view no_plan;
  /// @throws InputError: jobs without the data that the policy needs, by name
  std::unique_ptr<policy::Policy> (*make)(const PaperWorld& world);
  /// It chooses machines by itself and knows no rules about them; others are placed by best fit.
  bool chooses_machines = false;
};

/// The schedulers of the papers of docs/papers.md.
std::span<const PaperPolicyRow> paper_policies();

/// The row of a name; null: there is none.
const PaperPolicyRow* find_paper_policy(std::string_view name);

}  // namespace berth::papers
