// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"
#include "fabric.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

/// The first text in quotes from position `from` on; sets `from` behind it.
std::optional<std::string_view> quoted(std::string_view line, std::size_t& from) {
  const std::size_t open = line.find('"', from);
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = line.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  from = close + 1;
  return line.substr(open + 1, close - open - 1);
}

/// Gbit/s of a link: lanes times the rate of a lane in this generation; 0 when it is not given.
double rate_of(std::string_view line) {
  // Gbit/s of one lane by InfiniBand generation.
  constexpr std::array<std::pair<std::string_view, double>, 7> kLane{{{"SDR", 2.5},
                                                                      {"DDR", 5.0},
                                                                      {"QDR", 10.0},
                                                                      {"FDR", 14.0},
                                                                      {"EDR", 25.0},
                                                                      {"HDR", 50.0},
                                                                      {"NDR", 100.0}}};
  const std::size_t begin = line.find_last_of(" \t");
  if (begin == std::string_view::npos) return 0.0;
  const std::string_view word = line.substr(begin + 1);
  const std::size_t x = word.find('x');
  int lanes = 0;
  if (x == std::string_view::npos ||
      std::from_chars(word.data(), word.data() + x, lanes).ec != std::errc()) {
    return 0.0;
  }
  for (const auto& [name, gbps] : kLane) {
    if (word.substr(x + 1) == name) return lanes * gbps;
  }
  return 0.0;
}

/// The host in a port's description, "HOST mlx5_0" or "HOST HCA-1"; other forms do not name it.
std::string_view host_of(std::string_view description) {
  const std::size_t space = description.find(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view adapter = description.substr(space + 1);
  const bool named = adapter.starts_with("mlx") || adapter.starts_with("HCA");
  const std::string_view host = description.substr(0, space);
  return named && host != "localhost" ? host : std::string_view{};
}

/// A switch's name in descriptions such as "MF0;LEAF-04:MQM9701/U1", else its id.
std::string switch_name(std::string_view description, std::string_view id) {
  const std::size_t begin = description.find(';');
  const std::size_t end = description.find(':', begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::string(id);
  return std::string(description.substr(begin + 1, end - begin - 1));
}

/// Reads one port line of a switch: `[1] "H-guid"[1](guid) # "host mlx5_0" lid 5 4xNDR`.
void read_port(std::string_view line, const std::string& leaf, SwitchFabric& fabric) {
  std::size_t at = 0;
  const auto peer = quoted(line, at);
  const auto description = quoted(line, at);
  if (!peer || !description) return;
  if (peer->starts_with("S-")) {
    fabric.uplinks_of[leaf][switch_name(*description, *peer)] += rate_of(line);
    return;
  }
  if (!peer->starts_with("H-") || description->find("Aggregation Node") != std::string_view::npos) {
    return;
  }
  const std::string_view host = host_of(*description);
  if (host.empty()) {
    ++fabric.nameless;
  } else {
    fabric.leaves_of[std::string(host)].insert(leaf);
  }
}

}  // namespace

SwitchFabric read_ibnetdiscover(const std::string& whole, const std::string& file) {
  std::string_view text = whole;
  SwitchFabric fabric;
  std::string leaf;  // the switch whose ports follow
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.starts_with("Switch")) {
      std::size_t at = 0;
      const auto id = quoted(line, at);
      const auto description = quoted(line, at);
      if (!id) {
        throw InputError({.file = file, .line = number, .field = ""}, "a switch without an id",
                         "expected the output of ibnetdiscover");
      }
      leaf = description ? switch_name(*description, *id) : std::string(*id);
    } else if (line.starts_with("Ca") || line.starts_with("Rt")) {
      leaf.clear();
    } else if (line.starts_with("[") && !leaf.empty()) {
      read_port(line, leaf, fabric);
    }
  }
  return fabric;
}

SwitchFabric read_lingjun(const std::string& text, const std::string& file) {
  SwitchFabric fabric;
  Csv csv(text, file);
  const auto ip = csv.need("ip");
  const auto core = csv.need("DSW");
  const auto pod = csv.need("PSW");
  const auto rack = csv.need("ASW");
  while (csv.next()) {
    const std::string leaf = csv.name(pod) + "-" + csv.name(rack);
    fabric.leaves_of[csv.name(ip)].insert(leaf);
    fabric.uplinks_of[leaf][csv.name(core) + "-" + csv.name(pod)] = 0.0;
  }
  return fabric;
}

}  // namespace berth::io
