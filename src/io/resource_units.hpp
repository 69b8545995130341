// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/model/resources.hpp"

namespace berth::io {

/// A key that people write in place of that of a resource: amounts with fractions or units.
struct UnitKey {
  std::string_view key;
  std::size_t resource;  ///< row of model::kResourceTable
  std::string_view expected;
};
inline constexpr std::array<UnitKey, 2> kUnitKeys{
    {{"cpu", model::kCpu, "cores, in thousandths at the finest: 64, 0.5"},
     {"memory", model::kMemory, "a number and its unit: \"512MiB\", \"64GiB\", \"1.5TiB\""}}};

/// Amount of the resource that the word of such a key means, 0 to kMaxAmount; none: no such word,
/// or no whole number of thousandths or MiB.
[[nodiscard]] std::optional<std::int64_t> amount_of(const UnitKey& key, std::string_view word);

/// The problem of a key of units beside the plain one of the same resource.
[[nodiscard]] std::string both_given(const UnitKey& key);

}  // namespace berth::io
