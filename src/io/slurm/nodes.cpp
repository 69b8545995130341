// SPDX-License-Identifier: Apache-2.0
#include "slurm/snapshot.hpp"
#include "words.hpp"

#include <algorithm>
#include <iterator>

namespace berth::io::slurm {
namespace {

constexpr const char* kNodesHint =
    "save `scontrol show nodes --json`, or with Slurm 22.05 and before `sinfo --json`";

/// A node's record in the file; some members are combined only at its end.
struct Raw {
  SlurmNode node;
  std::int64_t effective_cpus = 0;
  std::int64_t spec_memory = 0;
  std::string tres;
};

const Readers<Raw> kNodeReaders{
    {"name", [](Raw& r, const JsonAt& v) { r.node.name = v.name(); }},
    {"cpus", [](Raw& r, const JsonAt& v) { r.node.cpus = number(v).or_else(0); }},
    {"effective_cpus", [](Raw& r, const JsonAt& v) { r.effective_cpus = number(v).or_else(0); }},
    {"threads", [](Raw& r, const JsonAt& v) { r.node.threads = number(v).or_else(1); }},
    {"real_memory", [](Raw& r, const JsonAt& v) { r.node.memory_mib = number(v).or_else(0); }},
    {"specialized_memory", [](Raw& r, const JsonAt& v) { r.spec_memory = number(v).or_else(0); }},
    {"features", [](Raw& r, const JsonAt& v) { r.node.features = list(v); }},
    {"partitions", [](Raw& r, const JsonAt& v) { r.node.partitions = list(v); }},
    {"reservation", [](Raw& r, const JsonAt& v) { r.node.reservation = text(v); }},
    {"tres", [](Raw& r, const JsonAt& v) { r.tres = text(v); }},
    {"gres",
     [](Raw& r, const JsonAt& v) {
       auto gres = parse_gres(text(v));
       if (!gres) v.fail("cannot read " + in_quotes(text(v)), "expected a list like gpu:a100:4");
       r.node.gres = std::move(*gres);
     }},
    {"state",
     [](Raw& r, const JsonAt& v) {
       std::ranges::move(flags(v), std::back_inserter(r.node.states));
     }},
    {"state_flags",
     [](Raw& r, const JsonAt& v) {
       std::ranges::move(flags(v), std::back_inserter(r.node.states));
     }},
};

SlurmNode finished(const JsonAt& at, Raw raw) {
  SlurmNode& node = raw.node;
  if (node.name.empty()) at.fail("a node without a \"name\"", kNodesHint);
  if (node.states.empty())
    at.fail("node " + in_quotes(node.name) + " has no \"state\"", kNodesHint);
  if (node.cpus < 0 || node.memory_mib < 0) {
    at.fail("node " + in_quotes(node.name) + " has a negative amount");
  }
  // CPUs reserved for the system: a field of their own from v0.0.39 on, before that only in the
  // TRES
  const std::int64_t usable =
      raw.effective_cpus > 0 ? raw.effective_cpus : tres_amount(raw.tres, "cpu").value_or(0);
  if (usable > 0) node.cpus = std::min(node.cpus, usable);
  node.memory_mib -= std::clamp<std::int64_t>(raw.spec_memory, 0, node.memory_mib);
  return std::move(node);
}

}  // namespace

std::vector<SlurmNode> read_nodes(const Source& source) {
  std::vector<SlurmNode> nodes;
  read_list(source, "nodes", kNodesHint, [&](const JsonAt& at) {
    at.each([&](const JsonAt& element) {
      Raw raw;
      read_fields(element, kNodeReaders, raw);
      nodes.push_back(finished(element, std::move(raw)));
    });
  });
  return nodes;
}

}  // namespace berth::io::slurm
