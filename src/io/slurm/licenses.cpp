// SPDX-License-Identifier: Apache-2.0
#include "slurm/licenses.hpp"

#include "numbers.hpp"
#include "slurm/hostlist.hpp"
#include "words.hpp"

#include <algorithm>

namespace berth::io::slurm {

std::optional<LicenseCounts> parse_licenses(std::string_view list) {
  LicenseCounts counts;
  if (list.find('|') != std::string_view::npos) return std::nullopt;
  const char separator = list.find(';') == std::string_view::npos ? ',' : ';';
  for (const std::string_view entry : split_list(list, separator)) {
    const std::size_t colon = entry.find_first_of(":=");
    const std::string name(entry.substr(0, colon));
    std::int64_t count = 1;
    const bool sound =
        colon == std::string_view::npos || read_number(entry.substr(colon + 1), count);
    if (!sound || count < 0 || !name_fault(name).empty()) return std::nullopt;
    const auto known = std::ranges::find(counts, name, &LicenseCounts::value_type::first);
    if (known == counts.end()) {
      counts.emplace_back(name, count);
    } else {
      known->second += count;
    }
  }
  std::erase_if(counts, [](const auto& license) { return license.second == 0; });
  return counts;
}

}  // namespace berth::io::slurm
