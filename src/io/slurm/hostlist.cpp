// SPDX-License-Identifier: Apache-2.0
#include "slurm/hostlist.hpp"

#include "id_range.hpp"
#include "words.hpp"

#include <algorithm>
#include <cstddef>

namespace berth::io::slurm {
namespace {

constexpr std::ptrdiff_t kMaxBrackets = 8;    // of one name; guard: each is a level of recursion
constexpr std::size_t kMaxHosts = 2'000'000;  // guard against typing errors: n[0-99999999]

/// Expands one bracket at a time: `r[1-2]n[0-9]` becomes `r1n[0-9]` and `r2n[0-9]`.
void expand_one(std::string_view text, Hosts& hosts) {
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos || text.find('[', close) == std::string_view::npos) {
    const ParsedRange parsed = parse_id_range(text);
    if (!parsed.fault.empty()) {
      hosts.fault = parsed.fault;
    } else if (parsed.range.count() > kMaxHosts - hosts.names.size()) {
      hosts.fault = "more than 2000000 names in " + in_quotes(text);
    } else {
      for_each_id(parsed.range, [&](std::string_view name) { hosts.names.emplace_back(name); });
    }
    return;
  }
  Hosts heads;
  expand_one(text.substr(0, close + 1), heads);
  hosts.fault = heads.fault;
  for (const std::string& head : heads.names) {
    if (!hosts.fault.empty()) return;
    expand_one(head + std::string(text.substr(close + 1)), hosts);
  }
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && (list[i] == '[' || list[i] == '(')) ++depth;
    if (i < list.size() && (list[i] == ']' || list[i] == ')')) --depth;
    if (i < list.size() && (list[i] != separator || depth > 0)) continue;
    if (i > begin) parts.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

Hosts expand_hosts(std::string_view list) {
  Hosts hosts;
  if (list == "(null)") return hosts;
  for (const std::string_view part : split_list(list)) {
    if (std::ranges::count(part, '[') > kMaxBrackets) {
      return {.names = {}, .fault = "more than 8 brackets in " + in_quotes(part)};
    }
    expand_one(part, hosts);
    if (!hosts.fault.empty()) return {.names = {}, .fault = hosts.fault};
  }
  return hosts;
}

std::string host_list(const std::vector<std::string>& names) {
  RangeBuilder ranges;
  for (const std::string& name : names) ranges.add(name);
  std::string text;
  for (const std::string& range : ranges.finish()) {
    if (!text.empty()) text += ',';
    text += range;
  }
  return text;
}

}  // namespace berth::io::slurm
