// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "berth/model/job.hpp"

namespace berth::model {

/// A number for each Level but the cluster: for machines, racks and pods.
using DomainCounts = std::array<std::int32_t, kLevels - 1>;

/// Number of licenses that a placed job takes.
struct LicenseUse {
  std::uint32_t license = 0;  ///< row of Cluster::licenses
  std::int64_t count = 0;     ///< > 0

  bool operator==(const LicenseUse&) const = default;
};

/// Rules of a job about its placement, beside its domain: about its machines, and licenses of the
/// cluster that it takes. Jobs with equal rules share one row of WorkloadTables::rules.
struct PlacementRules {
  static constexpr std::int32_t kAnyNumber = std::numeric_limits<std::int32_t>::max();

  DomainCounts max_tasks = {kAnyNumber, kAnyNumber, kAnyNumber};  ///< most in one domain, >= 1
  DomainCounts min_domains = {1, 1, 1};    ///< least number of domains with tasks of the job
  bool exclusive = false;                  ///< the job's machines hold no task of another job
  std::vector<std::string> labels = {};    ///< of the job; ascending, distinct
  std::vector<std::string> not_with = {};  ///< labels of other jobs; ascending, distinct
  std::vector<LicenseUse> licenses = {};   ///< ascending license, distinct
  /// The job cannot share a machine with every other job: a function of all rows, see `link_rules`.
  bool concern_others = false;

  bool operator==(const PlacementRules&) const = default;
};

template <class Archive>
void describe(Archive& archive, PlacementRules& rules) {
  archive(rules.max_tasks, rules.min_domains, rules.exclusive, rules.labels, rules.not_with,
          rules.concern_others, rules.licenses);
}

/// Sets `concern_others` of every row: labels that no row avoids keep nobody away. Call it when all
/// rows are there. O(labels log labels)
void link_rules(std::vector<PlacementRules>& rules);

/// True when the rules restrict the machines of a job: they have more than licenses.
bool concern_machines(const PlacementRules& rules);

/// True when two jobs with these rules may have tasks on one machine. Symmetric. O(labels^2)
bool may_share_machine(const PlacementRules& a, const PlacementRules& b);

/// Narrowest level of a domain that may hold all of `tasks` tasks of one job.
Level narrowest_width(const PlacementRules& rules, std::int64_t tasks);

}  // namespace berth::model
