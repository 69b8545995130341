// SPDX-License-Identifier: Apache-2.0
#include "utility_bound.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "berth/papers/slot_proof.hpp"
#include "berth/papers/slot_relaxation.hpp"

namespace berth::apps {
void print_utility_bound(std::string_view policy, const papers::PaperWorld& world,
                         std::span<const model::JobRecord> records) {
  const auto finished = [](const model::JobRecord& record) { return record.finished(); };
  if (std::ranges::none_of(records, finished)) return;
  const double earned = papers::earned_utility(world, records);
  const papers::SlotRelaxation relaxation = papers::slot_relaxation(policy, world, records);
  const double most = papers::proved_utility(relaxation.instance, relaxation.price);
  fmt::print("  {:<28}{:.6g}\n", "utility", earned);
  fmt::print("  {:<28}{:.6g} (competitive ratio at most {:.3f})\n", "bound, by the judge", most,
             earned > 0.0 ? most / earned : INFINITY);
}

}  // namespace berth::apps
