// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"
#include "fabric.hpp"
#include "slurm/hostlist.hpp"
#include "words.hpp"
#include "yaml_fields.hpp"

#include <set>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

/// Reads the map of switches and returns their names.
std::set<std::string> read_switches(const YamlAt& switches, SwitchFabric& fabric) {
  std::set<std::string> names;
  if (!switches.node().is_map()) switches.fail("expected a map of switches");
  for_each_entry(switches.node(), [&](const Node& key, const Node& value) {
    const std::string upper(key_text(key));
    const YamlAt at(key, value, switches, upper);
    if (const std::string fault = name_fault(upper); !fault.empty()) at.fail(fault);
    if (!names.insert(upper).second) at.fail("is given twice");
    if (at.empty()) return;
    const YamlMap map(at, {"switches", "labels", "annotations"});
    const auto below = map.find("switches");
    if (!below) return;
    below->each([&](const YamlAt& name) { fabric.uplinks_of[name.name()][upper] = 0.0; });
  });
  return names;
}

void read_block(const YamlAt& block, const std::set<std::string>& switches, SwitchFabric& fabric) {
  const YamlMap map(block, {"switch", "nodes", "labels", "annotations"});
  const YamlAt leaf = map.need("switch");
  if (!switches.empty() && !switches.contains(leaf.name()) &&
      !fabric.uplinks_of.contains(leaf.name())) {
    leaf.fail("no such switch: " + in_quotes(leaf.name()));
  }
  map.need("nodes").each([&](const YamlAt& range) {
    const slurm::Hosts hosts = slurm::expand_hosts(range.text());
    if (!hosts.fault.empty()) range.fail(hosts.fault);
    for (const std::string& host : hosts.names) {
      if (!fabric.leaves_of[host].insert(leaf.name()).second || fabric.leaves_of[host].size() > 1) {
        range.fail(in_quotes(host) + " is in two blocks");
      }
    }
  });
}

}  // namespace

SwitchFabric read_topograph(const std::string& text, const std::string& file) {
  SwitchFabric fabric;
  const Document document = read_document(text, file);
  const YamlAt root(document.root(), file);
  const YamlMap map(root, {"switches", "blocks"});
  std::set<std::string> switches;
  if (const auto found = map.find("switches")) switches = read_switches(*found, fabric);
  map.need("blocks").each([&](const YamlAt& block) { read_block(block, switches, fabric); });
  return fabric;
}

}  // namespace berth::io
