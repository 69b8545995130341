// SPDX-License-Identifier: Apache-2.0
#include "windows.hpp"

#include "id_range.hpp"
#include "machine_names.hpp"
#include "words.hpp"
#include "yaml_scalar.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace berth::io {
namespace {

using model::Cluster;
using model::MachineRange;
using model::Window;
using model::WindowKind;

constexpr std::array<std::string_view, 2> kKindNames{"maintenance", "reservation"};

/// Ascending, disjoint and not adjacent.
std::vector<MachineRange> joined(std::vector<MachineRange> ranges) {
  std::ranges::sort(ranges, {}, &MachineRange::first);
  std::vector<MachineRange> joined;
  for (const MachineRange& range : ranges) {
    if (range.first == range.end) continue;  // a rack without machines
    if (joined.empty() || joined.back().end < range.first) {
      joined.push_back(range);
    } else {
      joined.back().end = std::max(joined.back().end, range.end);
    }
  }
  return joined;
}

class WindowsReader {
 public:
  explicit WindowsReader(Cluster& cluster) : cluster_(&cluster), names_(cluster) {}

  void read_window(const YamlAt& at) {
    const YamlMap map(at, {"machines", "from", "to", "kind", "for"});
    Window window;
    window.from = map.need("from").integer(kMaxAmount);
    const YamlAt to = map.need("to");
    window.to = to.integer(kMaxAmount);
    if (window.to <= window.from) {
      to.fail(fmt::format("{} is not after \"from\", {}", window.to, window.from),
              "a window holds from \"from\" until before \"to\", in seconds");
    }
    window.kind = read_kind(map.need("kind"));
    read_machines(map.need("machines"), window);
    if (const auto whom = map.find("for")) read_for(*whom, window);
    cluster_->windows.push_back(std::move(window));
  }

 private:
  static WindowKind read_kind(const YamlAt& at) {
    const std::string word = at.name();
    const auto* const found = std::ranges::find(kKindNames, word);
    if (found == kKindNames.end()) {
      at.fail("unknown kind " + in_quotes(word), known_words(word, kKindNames));
    }
    return static_cast<WindowKind>(found - kKindNames.begin());
  }

  void read_machines(const YamlAt& at, Window& window) const {
    names_.each(at, [&](const YamlAt&, MachineRange range) { window.machines.push_back(range); });
    window.machines = joined(std::move(window.machines));
    if (window.machines.empty()) at.fail("names no machine", "drop the window");
  }

  void read_for(const YamlAt& at, Window& window) const {
    if (window.kind == WindowKind::maintenance) {
      at.fail("no job runs on machines in maintenance", "drop it, or say kind: reservation");
    }
    const YamlMap map(at, {"jobs", "queues"});
    if (const auto jobs = map.find("jobs")) {
      jobs->each([&](const YamlAt& job) { window.jobs.push_back(job.name()); });
    }
    if (const auto queues = map.find("queues")) {
      queues->each([&](const YamlAt& queue) { window.queues.push_back(queue_named(queue)); });
    }
    if (window.jobs.empty() && window.queues.empty()) {
      at.fail("names neither jobs nor queues",
              "without \"for\" the machines are reserved for use outside the jobs file");
    }
    make_distinct(window.jobs);
    make_distinct(window.queues);
  }

  [[nodiscard]] QueueId queue_named(const YamlAt& at) const {
    const std::string name = at.name();
    std::vector<std::string_view> known;
    for (std::size_t q = 0; q < cluster_->queues.size(); ++q) {
      if (cluster_->queues[q].name == name) return QueueId(q);
      known.push_back(cluster_->queues[q].name);
    }
    at.fail("unknown queue " + in_quotes(name),
            known.empty() ? "the cluster has no queues" : known_words(name, known));
  }

  template <class T>
  static void make_distinct(std::vector<T>& values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  Cluster* cluster_;
  MachineNames names_;
};

template <class Names>
std::string list_text(const Names& names) {
  std::string text = "[";
  for (const auto& name : names) text.append(text.size() > 1 ? ", " : "") += yaml_scalar(name);
  return text + "]";
}

std::string for_text(const Cluster& cluster, const Window& window) {
  if (window.jobs.empty() && window.queues.empty()) return {};
  std::string text = ", for: {";
  if (!window.jobs.empty()) text += "jobs: " + list_text(window.jobs);
  if (!window.queues.empty()) {
    std::vector<std::string_view> names;
    for (const QueueId queue : window.queues) names.push_back(cluster.queues[queue.index()].name);
    text.append(window.jobs.empty() ? "" : ", ").append("queues: ") += list_text(names);
  }
  return text + "}";
}

bool admits(const Cluster& cluster, const Window& window, const HeldTime& job) {
  for (QueueId q = job.queue; q.valid(); q = cluster.queues[q.index()].parent) {
    if (std::ranges::binary_search(window.queues, q)) return true;
  }
  return std::ranges::binary_search(window.jobs, job.name, std::less<>());
}

}  // namespace

void read_windows(const YamlAt& list, Cluster& cluster) {
  WindowsReader reader(cluster);
  list.each([&](const YamlAt& window) { reader.read_window(window); });
}

std::string windows_text(const Cluster& cluster) {
  std::string text = cluster.windows.empty() ? "" : "windows:\n";
  for (const Window& window : cluster.windows) {
    RangeBuilder ranges;
    for (const MachineRange& range : window.machines) {
      for (std::int32_t m = range.first; m < range.end; ++m) {
        ranges.add(cluster.machine_names[static_cast<std::size_t>(m)]);
      }
    }
    text +=
        fmt::format("  - {{machines: {}, from: {}, to: {}, kind: {}{}}}\n",
                    list_text(ranges.finish()), window.from, window.to,
                    kKindNames[static_cast<std::size_t>(window.kind)], for_text(cluster, window));
  }
  return text;
}

const Window* collision(const Cluster& cluster, MachineId machine, const HeldTime& job) {
  for (const Window& window : cluster.windows) {
    if (window.from >= job.end || window.to <= job.since || admits(cluster, window, job)) continue;
    const auto after =
        std::ranges::upper_bound(window.machines, machine.value(), {}, &MachineRange::first);
    if (after != window.machines.begin() && machine.value() < std::prev(after)->end) return &window;
  }
  return nullptr;
}

}  // namespace berth::io
