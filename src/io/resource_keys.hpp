// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_text.hpp"
#include "resource_units.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "berth/model/resources.hpp"

namespace berth::io {

/// Keys of an object in a file: some, then those of the resources in order of their table, then
/// others.
template <std::size_t Before, std::size_t After = 0>
constexpr auto resource_keys(const std::array<std::string_view, Before>& before,
                             const std::array<std::string_view, After>& after = {}) {
  std::array<std::string_view, Before + model::kResources + After> keys;
  auto next = std::ranges::copy(before, keys.begin()).out;
  for (const model::ResourceRow& row : model::kResourceTable) *next++ = row.key;
  std::ranges::copy(after, next);
  return keys;
}

/// Reads the amounts that a YAML map gives, also by the keys of units where the map knows them; the
/// others stay as they are.
template <class Map>
void read_resources(const Map& map, model::Resources& amounts) {
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (const auto given = map.find(model::kResourceTable[r].key)) {
      amounts[r] = given->integer(kMaxAmount);
    }
  }
  for (const UnitKey& unit : kUnitKeys) {
    const auto given = map.find(unit.key);
    if (!given) continue;
    const std::string_view plain = model::kResourceTable[unit.resource].key;
    if (map.find(plain)) given->fail(both_given(unit), "keep one of them");
    const auto amount = amount_of(unit, given->text());
    if (!amount) given->fail("expected " + std::string(unit.expected) + ", found " + in_quotes(given->text()));
    amounts[unit.resource] = *amount;
  }
}

/// Writes amounts or prices as a plan has them.
inline void add_resources(JsonText& json, const model::Resources& amounts) {
  for (std::size_t r = 0; r < model::kResources; ++r) {
    const model::ResourceRow& row = model::kResourceTable[r];
    if (!row.optional() || amounts[r] > 0) json.field(row.key, amounts[r]);
  }
}

}  // namespace berth::io
