// SPDX-License-Identifier: Apache-2.0
#include "berth/report/reasons.hpp"

#include <array>
#include <utility>

namespace berth::report {
namespace {

/// Reasons that name amounts of one job, by their first word, and what the summary says instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSummaries{
    {{"no room: ", "no room: free machines hold too few of its tasks"},
     {"too dear: ", "too dear: worth less than its GPUs and quotas cost"},
     {"spare: ", "spare: not worth the penalty of spare GPUs"},
     {"rules: ", "rules: no placement was found that they allow"},
     {"uplinks: ", "uplinks: no placement was found that they carry"},
     {"not found: ", "not found: free machines may hold its tasks"}}};

}  // namespace

std::string reason_summary(std::string_view reason) {
  std::string_view before;
  for (const std::string_view prefix : {kStopped, kEvacuated}) {
    if (reason.starts_with(prefix)) before = prefix;
  }
  const std::string_view rest = reason.substr(before.size());
  for (const auto& [start, summary] : kSummaries) {
    if (rest.starts_with(start)) return std::string(before).append(summary);
  }
  return std::string(reason);
}

}  // namespace berth::report
