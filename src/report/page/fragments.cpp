// SPDX-License-Identifier: Apache-2.0
#include "../machine_use.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace berth::report {
namespace {

constexpr std::array<std::int64_t, 4> kBlocks{1, 2, 4, 8};

/// Wholly free GPUs of one type.
struct FreeBlocks {
  std::int64_t gpus = 0, free = 0;
  std::array<std::int64_t, kBlocks.size()> in_blocks{};  ///< of so many on one machine
  std::int64_t machine = 0, rack = 0, pod = 0;           ///< most in one
};

/// Of all types; most in one rack and in one pod from sums over neighbouring machines.
std::vector<FreeBlocks> free_blocks(const model::Cluster& cluster,
                                    std::span<const MachineUse> uses) {
  std::vector<FreeBlocks> result(cluster.gpu_types.size());
  std::vector<std::int64_t> in_rack(result.size(), 0), in_pod(result.size(), 0);
  for (std::size_t m = 0; m < uses.size(); ++m) {
    const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
    if (m > 0 && cluster.machine_rack[m] != cluster.machine_rack[m - 1])
      in_rack.assign(result.size(), 0);
    if (m > 0 && cluster.pod_of(MachineId(m)) != cluster.pod_of(MachineId(m - 1)))
      in_pod.assign(result.size(), 0);
    if (!type.valid()) continue;
    FreeBlocks& blocks = result[type.index()];
    const std::int64_t free = uses[m].whole;
    blocks.gpus += uses[m].gpus;
    blocks.free += free;
    for (std::size_t b = 0; b < kBlocks.size(); ++b) {
      blocks.in_blocks[b] += free - free % kBlocks[b];
    }
    blocks.machine = std::max(blocks.machine, free);
    blocks.rack = std::max(blocks.rack, in_rack[type.index()] += free);
    blocks.pod = std::max(blocks.pod, in_pod[type.index()] += free);
  }
  return result;
}

}  // namespace

std::string fragments_section(const PageContent& content, std::span<const MachineUse> uses) {
  const model::Cluster& cluster = content.now.instance.cluster;
  HtmlTable table("Wholly free GPUs on machines that are up",
                  {"GPU type", "free", "in pairs", "in fours", "in eights", "most on a machine",
                   "in a rack", "in a pod", "in eights, of free"});
  const std::vector<FreeBlocks> all = free_blocks(cluster, uses);
  bool any = false;
  for (std::size_t t = 0; t < all.size(); ++t) {
    const FreeBlocks& blocks = all[t];
    if (blocks.gpus == 0) continue;
    any = true;
    table.add({html_name(cluster.gpu_types[t]), figure("free." + cluster.gpu_types[t], blocks.free),
               fmt::format("{}", blocks.in_blocks[1]), fmt::format("{}", blocks.in_blocks[2]),
               fmt::format("{}", blocks.in_blocks[3]), fmt::format("{}", blocks.machine),
               fmt::format("{}", blocks.rack), fmt::format("{}", blocks.pod),
               bar(blocks.free == 0 ? 0.0
                                    : static_cast<double>(blocks.in_blocks[3]) /
                                          static_cast<double>(blocks.free))});
  }
  if (!any) return {};
  return section("fragments", "What is left free",
                 "<p>GPUs of free pairs, fours and eights are on one machine each. The most in a "
                 "rack or pod is the largest gang that still fits there.</p>\n" +
                     table.text());
}

}  // namespace berth::report
