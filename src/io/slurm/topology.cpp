// SPDX-License-Identifier: Apache-2.0
#include "slurm/topology.hpp"

#include "numbers.hpp"
#include "slurm/hostlist.hpp"
#include "words.hpp"

#include <algorithm>
#include <unordered_set>

namespace berth::io::slurm {
namespace {

constexpr const char* kTopologyHint =
    "expected the lines of a topology.conf: SwitchName=... or BlockName=...";

struct SwitchRecord {
  std::string name;
  std::vector<std::string> nodes;
  std::vector<std::string> switches;
};

struct Lines {
  std::vector<SwitchRecord> switches;
  std::vector<SwitchRecord> blocks;
  std::vector<std::int64_t> block_sizes;
};

class TopologyParser {
 public:
  TopologyParser(const Source& source, Notes& notes) : source_(source), notes_(notes) {}

  Lines read() {
    std::string_view rest = source_.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      ++line_;
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      continued_ += line.substr(0, line.find('#'));
      if (continued_.ends_with('\\')) {
        continued_.back() = ' ';
        continue;
      }
      read_line(continued_);
      continued_.clear();
    }
    if (lines_.switches.empty() && lines_.blocks.empty()) {
      line_ = 0;
      fail("", "no switches and no blocks");
    }
    if (!lines_.switches.empty() && !lines_.blocks.empty()) {
      fail("", "switches and blocks in one file");
    }
    return std::move(lines_);
  }

 private:
  [[noreturn]] void fail(std::string_view field, const std::string& problem) const {
    throw InputError({.file = source_.name, .line = line_, .field = std::string(field)}, problem,
                     kTopologyHint);
  }

  void read_line(std::string_view line) {
    SwitchRecord* vertex = nullptr;
    while (true) {
      const std::size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos) return;
      line.remove_prefix(begin);
      const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
      line.remove_prefix(word.size());
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) fail("", "cannot read " + in_quotes(word));
      read_word(lower(word.substr(0, equals)), word.substr(equals + 1), vertex);
    }
  }

  static std::string lower(std::string_view word) {
    std::string out(word);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
  }

  void read_word(const std::string& key, std::string_view value, SwitchRecord*& vertex) {
    if (key == "switchname" || key == "blockname") {
      if (const std::string fault = name_fault(value); !fault.empty()) fail(key, fault);
      auto& kind = key == "switchname" ? lines_.switches : lines_.blocks;
      if (!names_.insert(key + "=" + std::string(value)).second) {
        fail(key, in_quotes(value) + " is given twice");
      }
      vertex =
          &kind.emplace_back(SwitchRecord{.name = std::string(value), .nodes = {}, .switches = {}});
    } else if (key == "blocksizes") {
      read_sizes(key, value);
    } else if (vertex == nullptr) {
      fail(key, "stands before any SwitchName or BlockName");
    } else if (key == "nodes" || key == "switches") {
      Hosts hosts = expand_hosts(value);
      if (!hosts.fault.empty()) fail(key, hosts.fault);
      (key == "nodes" ? vertex->nodes : vertex->switches) = std::move(hosts.names);
    } else if (key == "linkspeed") {
      if (value != "1") notes_.add("switches with a LinkSpeed, which has no unit", vertex->name);
      // scontrol's own keys
    } else if (key != "level" && key != "blockindex" && key != "blocksize") {
      fail(key, "unknown key");
    }
  }

  void read_sizes(const std::string& key, std::string_view value) {
    for (const std::string_view part : split_list(value)) {
      std::int64_t size = 0;
      if (!read_number(part, size) || size < 1) {
        fail(key, "expected numbers of nodes, found " + in_quotes(part));
      }
      lines_.block_sizes.push_back(size);
    }
  }

  const Source& source_;
  Notes& notes_;
  std::int64_t line_ = 0;
  std::string continued_;
  std::unordered_set<std::string> names_;
  Lines lines_;
};

/// Keeps a node in the rack that names it first.
void keep_first(RackLayout& layout, Notes& notes) {
  std::unordered_set<std::string> seen;
  for (RackLayout::RackNodes& rack : layout.racks) {
    std::erase_if(rack.nodes, [&](const std::string& node) {
      if (seen.insert(node).second) return false;
      notes.add("machines under several leaf switches: they lie under the first", node);
      return true;
    });
  }
}

/// `scontrol show topology` repeats all nodes on every level; only those of no leaf are news.
template <class Place>
void add_nodes_of_upper_switches(const Lines& lines, const RackLayout& layout, const Place& place) {
  std::unordered_set<std::string> known;
  for (const RackLayout::RackNodes& rack : layout.racks)
    known.insert(rack.nodes.begin(), rack.nodes.end());
  for (SwitchRecord v : lines.switches) {
    if (v.switches.empty()) continue;
    std::erase_if(v.nodes, [&](const std::string& node) { return !known.insert(node).second; });
    if (!v.nodes.empty()) place(v, v.name);
  }
}

RackLayout tree(const Lines& lines, Notes& notes) {
  RackLayout layout;
  std::unordered_map<std::string, std::string> parent;
  for (const SwitchRecord& v : lines.switches) {
    for (const std::string& below : v.switches) {
      const auto [entry, fresh] = parent.try_emplace(below, v.name);
      if (!fresh && entry->second != v.name) {
        notes.add("switches below several others: their pod is the first that names them", below);
      }
    }
  }
  std::unordered_map<std::string, std::size_t> pods;  // in order of first appearance
  const auto place = [&](const SwitchRecord& v, const std::string& pod) {
    if (pods.try_emplace(pod, pods.size()).second && parent.contains(pod)) {
      notes.add("pods below further switches: above pods everything is one cluster", pod);
    }
    layout.racks.push_back({.name = v.name, .pod = pod, .nodes = v.nodes});
  };
  for (const SwitchRecord& v : lines.switches) {
    if (v.nodes.empty() || !v.switches.empty()) continue;
    const auto above = parent.find(v.name);
    if (above == parent.end() && lines.switches.size() > 1) {
      notes.add("leaf switches that hang on no other: Slurm runs no job across them, Berth may",
                v.name);
    }
    place(v, above == parent.end() ? v.name : above->second);
  }
  keep_first(layout, notes);
  add_nodes_of_upper_switches(lines, layout, place);
  std::ranges::stable_sort(layout.racks, {},
                           [&](const RackLayout::RackNodes& rack) { return pods.at(rack.pod); });
  return layout;
}

RackLayout blocks(const Lines& lines, Notes& notes) {
  RackLayout layout;
  const auto& sizes = lines.block_sizes;
  const std::int64_t base = sizes.empty() ? 0 : *std::ranges::min_element(sizes);
  const std::int64_t largest = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
  if (sizes.size() > 2) {
    notes.add("sizes between block and pod, which Slurm keeps together where it can",
              std::to_string(sizes[1]) + " nodes");
  }
  const std::int64_t together = base > 0 ? std::max<std::int64_t>(1, largest / base) : 1;
  for (std::size_t i = 0; i < lines.blocks.size(); ++i) {
    const std::size_t pod = i / static_cast<std::size_t>(together);
    const SwitchRecord& v = lines.blocks[i];
    layout.racks.push_back(
        {.name = v.name, .pod = "blocks-" + std::to_string(pod), .nodes = v.nodes});
  }
  return layout;
}

}  // namespace

RackLayout read_topology(const Source& source, Notes& notes) {
  const Lines lines = TopologyParser(source, notes).read();
  if (lines.blocks.empty()) return tree(lines, notes);
  RackLayout layout = blocks(lines, notes);
  keep_first(layout, notes);
  return layout;
}

}  // namespace berth::io::slurm
