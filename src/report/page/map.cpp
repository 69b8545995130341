// SPDX-License-Identifier: Apache-2.0
#include "../machine_use.hpp"
#include "../table_rows.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace berth::report {
namespace {

constexpr char kNoGpus = static_cast<char>(254), kClosed = static_cast<char>(255);

/// Names where each is the number of characters kept from the one before, then the rest: neighbours
/// are mostly alike.
template <class Names>
std::string front_coded(const Names& names, std::size_t count) {
  std::string text, before;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = clean(names(i));
    const std::size_t most = std::min({before.size(), name.size(), std::size_t{255}});
    std::size_t same = 0;
    while (same < most && before[same] == name[same]) ++same;
    while (same > 0 && same < name.size() && (name[same] & 0xc0) == 0x80) --same;
    text += fmt::format("{}{}\"{}\"", i == 0 ? "" : ",", same == 0 ? "" : fmt::format("{},", same),
                        script_text(std::string_view(name).substr(same)));
    before = name;
  }
  return "[" + text + "]";
}

/// Numbers below 2^28, seven bits a byte, the lowest first; the last byte of each has no high bit.
void add_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(0x80 | (number & 0x7f));
  bytes += static_cast<char>(number);
}

std::string use_bytes(std::span<const MachineUse> uses) {
  std::string bytes;
  for (const MachineUse& use : uses) {
    const std::int64_t busy = use.pinned + use.planned;
    bytes += use.gpus == 0    ? kNoGpus
             : use.closed > 0 ? kClosed
                              : static_cast<char>((busy + 5 * use.gpus) / (10 * use.gpus));
  }
  return bytes;
}

/// Price of a GPU on each machine relative to the dearest, 0 .. 100; empty without such prices.
std::string price_bytes(const PageContent& content) {
  if (content.prices == nullptr) return {};
  const model::Cluster& cluster = content.now.instance.cluster;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::int64_t> pools;
  std::int64_t most = 0;
  const bool racks = content.prices->level == model::Level::rack;
  for (const auto& pool : content.prices->pools) {
    pools[{pool.pod.index(), racks ? pool.rack.index() : 0, pool.machine_class.index()}] =
        pool.gpu_milli;
    most = std::max(most, pool.gpu_milli);
  }
  if (most == 0) return {};
  std::string bytes;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const auto at =
        pools.find({cluster.pod_of(MachineId(m)).index(),
                    racks ? cluster.machine_rack[m].index() : 0, cluster.machine_class[m].index()});
    const double price = at == pools.end() ? 0.0 : static_cast<double>(at->second);
    bytes += cluster.class_of(MachineId(m)).gpus == 0
                 ? kNoGpus
                 : static_cast<char>(std::lround(100.0 * price / static_cast<double>(most)));
  }
  return bytes;
}

/// The placed jobs of each machine: of each machine their number, then their positions among the
/// placed jobs, each less the one before.
std::string job_bytes(const PlanContent& content) {
  std::vector<std::vector<std::uint32_t>> on(content.instance.cluster.machines());
  for (std::size_t p = 0; p < content.placement.size(); ++p) {
    for (const model::TaskPlacement& task : content.placement[p].tasks) {
      auto& list = on[task.machine.index()];
      if (list.empty() || list.back() != p) list.push_back(static_cast<std::uint32_t>(p));
    }
  }
  std::string bytes;
  for (const auto& list : on) {
    add_number(bytes, list.size());
    std::uint32_t before = 0;
    for (const std::uint32_t p : list) {
      add_number(bytes, p - before);
      before = p;
    }
  }
  return bytes;
}

std::string rack_table(const model::Cluster& cluster, std::span<const MachineUse> uses) {
  constexpr std::size_t kMostRows = 512;
  const bool racks = cluster.racks.size() <= kMostRows;
  std::vector<MachineUse> sums(racks ? cluster.racks.size() : cluster.pods.size());
  for (std::size_t m = 0; m < uses.size(); ++m) {
    sums[racks ? cluster.machine_rack[m].index() : cluster.pod_of(MachineId(m)).index()] += uses[m];
  }
  HtmlTable table(racks ? "By rack" : "By pod", {racks ? "rack" : "pod", "machines", "GPUs", "free",
                                                 "wholly free", "closed", "busy %", ""});
  for (std::size_t r = 0; r < std::min(sums.size(), kMostRows); ++r) {
    const MachineUse& use = sums[r];
    const std::int64_t busy = use.pinned + use.planned;
    table.add({html_name(racks ? cluster.racks[r].name : cluster.pods[r].name),
               fmt::format("{}", use.machines), fmt::format("{}", use.gpus), devices(use.free()),
               fmt::format("{}", use.whole), devices(use.closed), percent(busy, 1000 * use.gpus),
               bar(use.gpus == 0
                       ? 0.0
                       : static_cast<double>(busy) / (1000.0 * static_cast<double>(use.gpus)))});
  }
  std::string note;
  if (sums.size() > kMostRows) note = fmt::format("<p>And {} more.</p>", sums.size() - kMostRows);
  return table.text() + note;
}

}  // namespace

std::string map_data(const PageContent& content, std::span<const MachineUse> uses) {
  const model::Cluster& cluster = content.now.instance.cluster;
  const auto& jobs = content.now.instance.workload.tables().job_names;
  std::string racks, types, of_type;
  std::size_t first = 0;
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    std::size_t end = first;
    while (end < cluster.machines() && cluster.machine_rack[end].index() == r) ++end;
    racks += fmt::format("{}{},{}", r == 0 ? "" : ",", cluster.racks[r].pod.index(), end - first);
    first = end;
  }
  for (const model::MachineClass& c : cluster.classes) {
    const std::string type = c.gpu_type.valid() ? cluster.gpu_types[c.gpu_type.index()] : "";
    types += fmt::format("{}\"{} x {}\"", types.empty() ? "" : ",", c.gpus,
                         type.empty() ? "GPU" : script_text(clean(type)));
  }
  for (const ClassId c : cluster.machine_class) add_number(of_type, c.index());
  std::string text = fmt::format("{{\"racks\":[{}],\"classes\":[{}]", racks, types);
  const auto list = [&](std::string_view key, const auto& names, std::size_t count) {
    text += fmt::format(",\n\"{}\":{}", key, front_coded(names, count));
  };
  const auto bytes = [&](std::string_view key, const std::string& value) {
    text += fmt::format(",\n\"{}\":\"{}\"", key, base64(value));
  };
  list(
      "pod_names", [&](std::size_t i) { return std::string_view(cluster.pods[i].name); },
      cluster.pods.size());
  list(
      "rack_names", [&](std::size_t i) { return std::string_view(cluster.racks[i].name); },
      cluster.racks.size());
  list(
      "machine_names", [&](std::size_t i) { return cluster.machine_names[i]; }, cluster.machines());
  bytes("machine_classes", of_type);
  bytes("use", use_bytes(uses));
  bytes("price", price_bytes(content));
  constexpr std::size_t kMostBytes = 2'700'000;  // with its tables a page stays below 3 MB
  const std::size_t without_jobs = text.size();
  list(
      "job_names", [&](std::size_t p) { return jobs[content.now.placement[p].job.index()]; },
      content.now.placement.size());
  bytes("jobs", job_bytes(content.now));
  if (text.size() > kMostBytes) text.resize(without_jobs);
  return text + "}";
}

std::string map_section(const PageContent& content, std::span<const MachineUse> uses) {
  const model::Cluster& cluster = content.now.instance.cluster;
  std::string body = fmt::format(
      "<figure id=\"map-figure\" hidden><div class=\"controls\"><label>Colour <select "
      "id=\"map-layer\">"
      "<option value=\"use\">GPUs that are busy</option></select></label> "
      "<label>Find <input id=\"map-find\" type=\"search\" autocomplete=\"off\"></label> "
      "<button id=\"map-in\" type=\"button\">Zoom in</button> "
      "<button id=\"map-out\" type=\"button\">Zoom out</button> "
      "<button id=\"map-all\" type=\"button\">Show all</button></div>\n"
      "<canvas id=\"map\" tabindex=\"0\" role=\"application\" aria-label=\"Map of {} machines; "
      "arrow "
      "keys go from machine to machine, plus and minus zoom\" "
      "aria-describedby=\"map-state\"></canvas>\n"
      "<div id=\"map-legend\"></div><p id=\"map-state\" role=\"status\" aria-live=\"polite\"></p>"
      "<figcaption>One cell a machine, rack by rack and pod by pod. Crossed out: closed. A dot: no "
      "GPUs.</figcaption></figure>\n<noscript><p>The map of machines needs a script; the table has "
      "its sums.</p></noscript>\n",
      cluster.machines());
  body += "<details><summary>Table</summary>" + rack_table(cluster, uses) + "</details>\n";
  return section("map-section", "Machines", body);
}

}  // namespace berth::report
