// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/machine_guests.hpp"

#include <algorithm>

#include "berth/base/assert.hpp"

namespace berth::policy {

MachineGuests::MachineGuests(std::size_t machines, const MachineRules& rules) : rows_(rules.rows) {
  if (std::ranges::none_of(rows_, &model::PlacementRules::concern_others)) return;
  on_.resize(machines);
  for (const FixedTasks& fixed : rules.fixed) edit(fixed.machine, fixed.rules, +1);
}

void MachineGuests::edit(MachineId machine, std::uint32_t rules, int sign) {
  if (!any()) return;
  std::vector<Guests>& guests = on_[machine.index()];
  auto at = std::ranges::find(guests, rules, &Guests::rules);
  if (at == guests.end()) at = guests.insert(at, {rules, 0});
  at->tasks += sign;
  BERTH_ASSERT(at->tasks >= 0);
  if (at->tasks == 0) guests.erase(at);
}

bool MachineGuests::admits_beside(std::span<const Guests> guests, std::uint32_t rules) const {
  const model::PlacementRules& asked = rows_[rules];
  return std::ranges::all_of(guests, [&](const Guests& there) {
    const model::PlacementRules& other = rows_[there.rules];
    const bool apart = asked.concern_others || other.concern_others;
    return !apart || model::may_share_machine(asked, other);
  });
}

}  // namespace berth::policy
