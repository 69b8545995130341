// SPDX-License-Identifier: Apache-2.0
#include "table_rows.hpp"
#include "text_table.hpp"

#include <map>
#include <string_view>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::report {
namespace {

/// What the jobs of a user have and wait for.
struct UserUse {
  std::int64_t pinned = 0, planned = 0, asked = 0;  ///< thousandths; asked: by jobs that wait
  std::int64_t placed = 0, waiting = 0;             ///< jobs
};

}  // namespace

std::string user_table(const PlanContent& content) {
  const model::WorkloadView& workload = content.instance.workload;
  std::map<std::string_view, UserUse> uses;
  const auto use_of = [&](JobId id) -> UserUse& {
    return uses[workload.tables().titles.user_of(id)];
  };
  const auto milli = [&](JobId id) { return workload.gpu_milli(workload.job(id)); };
  for (const model::JobPlacement& placed : content.placement) {
    UserUse& use = use_of(placed.job);
    use.planned += milli(placed.job), ++use.placed;
  }
  for (const JobId id : model::pinned_jobs(workload.tables())) {
    UserUse& use = use_of(id);
    use.pinned += milli(id), ++use.placed;
  }
  const auto ids = ids_by_name(content);
  for (const model::RawUnplacedJob& job : content.waiting) {
    const auto at = ids.find(job.job);
    if (at == ids.end()) continue;
    UserUse& use = use_of(at->second);
    use.asked += milli(at->second), ++use.waiting;
  }
  TextTable table({"user", "pinned", "planned", "placed", "waiting", "GPUs waiting"});
  for (const auto& [user, use] : uses) {
    table.add({user.empty() ? "(no user)" : printable(user), devices(use.pinned),
               devices(use.planned), fmt::format("{}", use.placed), fmt::format("{}", use.waiting),
               devices(use.asked)});
  }
  return table.text();
}

}  // namespace berth::report
