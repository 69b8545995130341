// SPDX-License-Identifier: Apache-2.0
#include "slurm/own_pin.hpp"

#include "numbers.hpp"
#include "slurm/hostlist.hpp"
#include "slurm/snapshot.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace berth::io::slurm {
namespace {

constexpr std::string_view kMark = "berth:";

/// Position and length of the pin's word; npos: none.
std::pair<std::size_t, std::size_t> find_word(std::string_view comment) {
  std::size_t at = comment.find(kMark);
  while (at != std::string_view::npos && at > 0 && comment[at - 1] != ' ') {
    at = comment.find(kMark, at + 1);
  }
  if (at == std::string_view::npos) return {at, 0};
  return {at, std::min(comment.find(' ', at), comment.size()) - at};
}

/// Two numbers with this character between them.
bool read_two(std::string_view text, char between, std::int64_t& first, std::int64_t& second) {
  const std::size_t at = text.find(between);
  return at != std::string_view::npos && read_number(text.substr(0, at), first) &&
         read_number(text.substr(at + 1), second) && first > 0 && second >= 0;
}

bool read_nodes(std::string_view text, std::vector<std::string>& nodes) {
  Hosts found = expand_hosts(text);
  nodes = std::move(found.names);
  return found.fault.empty() && !nodes.empty();
}

bool read_entry(std::string_view key, std::string_view value, OwnPin& pin) {
  if (key == "nodes") return read_nodes(value, pin.nodes);
  if (key == "asked") return read_nodes(value, pin.asked);
  if (key == "range") return read_two(value, '-', pin.min_nodes, pin.max_nodes);
  if (key == "start") return read_number(value, pin.start) && pin.start > 0;
  if (key == "priority") return read_two(value, '/', pin.priority, pin.former_priority);
  return true;  // of a later version
}

}  // namespace

std::string pin_text(const OwnPin& pin) {
  if (pin.empty()) return {};
  std::string text(kMark);
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{}{}={}", text.size() > kMark.size() ? ";" : "", key, value);
  };
  if (!pin.nodes.empty()) add("nodes", host_list(pin.nodes));
  if (!pin.asked.empty()) add("asked", host_list(pin.asked));
  if (pin.max_nodes > 0) add("range", fmt::format("{}-{}", pin.min_nodes, pin.max_nodes));
  if (pin.start > 0) add("start", std::to_string(pin.start));
  if (pin.priority > 0) add("priority", fmt::format("{}/{}", pin.priority, pin.former_priority));
  return text;
}

std::string with_pin(std::string_view comment, const std::string& word) {
  std::string text(comment);
  if (const auto [at, size] = find_word(comment); size > 0) {
    const std::size_t from = at > 0 ? at - 1 : at;  // the blank before it
    text.erase(from, at + size - from + (at == 0 && size < text.size() ? 1 : 0));
  }
  if (!text.empty() && !word.empty()) text += ' ';
  return text + word;
}

std::optional<OwnPin> read_pin(std::string_view comment) {
  const auto [at, size] = find_word(comment);
  if (size == 0) return std::nullopt;
  OwnPin pin;
  for (const std::string_view entry :
       split_list(comment.substr(at + kMark.size(), size - kMark.size()), ';')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    if (!read_entry(entry.substr(0, equals), entry.substr(equals + 1), pin)) return std::nullopt;
  }
  return pin.empty() ? std::nullopt : std::optional(std::move(pin));
}

void take_back_pin(SlurmJob& job) {
  job.pin = read_pin(job.admin_comment);
  if (!job.pin) return;
  OwnPin& pin = *job.pin;
  if (!pin.nodes.empty() && std::ranges::is_permutation(job.required, pin.nodes)) {
    job.required = pin.asked;
    const auto count = std::ssize(pin.nodes);
    if (pin.max_nodes > 0 && job.min_nodes == count && job.max_nodes == count) {
      job.min_nodes = pin.min_nodes;
      job.max_nodes = pin.max_nodes;
    } else {
      pin.max_nodes = 0;
    }
    // Slurm gives up a job whose pin it cannot keep; without the pin it may start
    if (job.reason == "BadConstraints") {
      job.held = false;
      job.given_up = true;
    }
  } else {
    pin.nodes.clear();
    pin.max_nodes = 0;
  }
  if (pin.start > 0 && job.eligible == pin.start) {
    job.eligible = 0;
  } else {
    pin.start = 0;
  }
  if (pin.priority > 0 && job.priority == pin.priority) {
    job.priority = pin.former_priority;
  } else {
    pin.priority = 0;
  }
}

}  // namespace berth::io::slurm
