// SPDX-License-Identifier: Apache-2.0
#include "slurm/gres.hpp"

#include "numbers.hpp"
#include "slurm/hostlist.hpp"

#include <cmath>
#include <cstdlib>
#include <utility>

namespace berth::io::slurm {
namespace {

std::optional<std::int64_t> count_of(std::string_view text) {
  std::int64_t scale = 1;
  if (text.ends_with('K') || text.ends_with('k')) scale = 1024;
  if (text.ends_with('M') || text.ends_with('m')) scale = 1024 * 1024;
  if (scale > 1) text.remove_suffix(1);
  std::int64_t count = 0;
  constexpr std::int64_t most = std::int64_t{1} << 40;  // parsed counts stay far below 64 bits
  if (!read_number(text, count) || count < 0 || count > most / scale) return std::nullopt;
  return count * scale;
}

/// Numbers of "IDX:0-1,3"; other remarks ("S:0-1", "CNT:2") give no devices.
std::optional<std::vector<int>> indices_of(std::string_view remark) {
  std::vector<int> indices;
  if (!remark.starts_with("IDX:") || remark == "IDX:N/A" || remark == "IDX:") return indices;
  const Hosts numbers = expand_hosts("[" + std::string(remark.substr(4)) + "]");
  if (!numbers.fault.empty()) return std::nullopt;
  for (const std::string& number : numbers.names) indices.push_back(std::atoi(number.c_str()));
  return indices;
}

std::optional<Gres> parse_one(std::string_view text) {
  Gres gres;
  const std::size_t paren = text.find('(');
  if (paren != std::string_view::npos) {
    const std::size_t close = text.find(')', paren);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view remark = text.substr(paren + 1, close - paren - 1);
    auto indices = indices_of(remark);
    if (!indices) return std::nullopt;
    gres.indices = std::move(*indices);
    text = text.substr(0, paren);
    if (remark.starts_with("CNT:")) {  // nodes whose devices Slurm has not detected yet
      const auto count = count_of(remark.substr(4));
      if (!count) return std::nullopt;
      gres.count = *count;
    }
  }
  if (text.starts_with("gres:") || text.starts_with("gres/")) text.remove_prefix(5);
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    const auto count = count_of(text.substr(equals + 1));
    if (!count) return std::nullopt;
    gres.count = *count;
    text = text.substr(0, equals);
  }
  std::vector<std::string_view> parts = split_list(text, ':');
  std::erase(parts, "no_consume");
  const bool counted = equals != std::string_view::npos;
  if (parts.empty() || parts.size() > (counted ? 2U : 3U)) return std::nullopt;
  gres.name = parts[0];
  if (parts.size() == 1) return gres;
  const auto last = counted ? std::nullopt : count_of(parts.back());
  if (last) gres.count = *last;
  if (!last && parts.size() == 3) return std::nullopt;
  if (!last || parts.size() == 3) gres.type = parts[1];  // a type may look like a number: 3090
  return gres;
}

}  // namespace

std::optional<std::vector<Gres>> parse_gres(std::string_view list) {
  std::vector<Gres> found;
  if (list == "(null)" || list == "N/A") return found;
  for (const std::string_view part : split_list(list)) {
    auto gres = parse_one(part);
    if (!gres) return std::nullopt;
    found.push_back(std::move(*gres));
  }
  return found;
}

std::optional<std::int64_t> tres_amount(std::string_view list, std::string_view name) {
  for (const std::string_view part : split_list(list)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || part.substr(0, equals) != name) continue;
    const std::string text(part.substr(equals + 1));
    char* end = nullptr;
    double amount = std::strtod(text.c_str(), &end);
    const std::string_view unit(end);
    const bool memory = name == "mem";  // in MiB without a unit
    if (unit == "K") amount *= memory ? 1.0 / 1024 : 1024.0;
    if (unit == "M") amount *= memory ? 1.0 : 1024.0 * 1024;
    if (unit == "G") amount *= memory ? 1024.0 : 1024.0 * 1024 * 1024;
    if (unit == "T") amount *= memory ? 1024.0 * 1024 : 1024.0 * 1024 * 1024 * 1024;
    if (end == text.c_str() || !(amount >= 0.0 && amount <= 0x1p40)) return std::nullopt;
    return static_cast<std::int64_t>(std::ceil(amount));
  }
  return std::nullopt;
}

}  // namespace berth::io::slurm
