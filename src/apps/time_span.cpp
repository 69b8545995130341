// SPDX-License-Identifier: Apache-2.0
#include "time_span.hpp"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace berth::apps {

double seconds_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"", 1.0}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}}};
  double number = 0.0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, number);
  if (error != std::errc()) return 0.0;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  for (const auto& [name, seconds] : kUnits) {
    if (unit == name) return number * seconds;
  }
  return 0.0;
}

}  // namespace berth::apps
