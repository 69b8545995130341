// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/model/resources.hpp"
#include "berth/papers/paper_policies.hpp"

namespace berth::papers::smd {

/// A way to run a job: one of its configurations, or that of its `tasks`.
struct OfferedCrew {
  std::uint32_t configuration = 0;
  std::int64_t workers = 0, servers = 0;
  double rate = 0.0;  ///< work at speed 1 in a second
};

/// Amounts of GPUs, in thousandths, and of the other resources that all machines limit.
using Amounts = std::vector<double>;

/// A job of a simulation as SMD sees it.
struct OfferedJob {
  std::vector<OfferedCrew> crews = {};
  Amounts limit = {};  ///< v: the most of any crew, at most all that there is
};

struct OfferedWorld {
  std::vector<OfferedJob> jobs = {};  ///< by JobId
  Amounts capacity = {};              ///< of all machines that are up
};

/// Rows of resources that all machines limit.
[[nodiscard]] std::vector<std::size_t> limited_rows(const model::Cluster& cluster);

/// @param policy  that needs them, for the message
/// @throws InputError: a job without overlap profile, or without a configuration that has workers
///         and servers, by name
[[nodiscard]] OfferedWorld offered_world(std::string_view policy, const PaperWorld& world);

}  // namespace berth::papers::smd
