// SPDX-License-Identifier: Apache-2.0
#include "branch_certificate.hpp"

#include "prove.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace berth::pipeline {

model::Certificate branch_certificate(model::Certificate certificate,
                                      const solver::BranchAndBoundResult& branched,
                                      double tolerance) {
  const auto near = static_cast<std::int64_t>(std::ldexp(tolerance, certificate.scale_log2));
  for (const solver::BranchNode& node : branched.nodes) {
    auto& added = certificate.tree.nodes.emplace_back();
    added = {.parent = node.parent,
             .split = node.split,
             .out = node.may_be_unplaced,
             .rest = node.remainder,
             .spots = node.spots,
             .changes = {}};
    for (std::size_t i = 0; i < node.prices.size(); ++i) {
      const std::int64_t price = to_signed_fixed(node.prices[i], certificate.scale_log2);
      if (std::abs(price - certificate.jobs[i].price) <= near) continue;
      added.changes.push_back({static_cast<std::uint32_t>(i), price});
    }
  }
  return certificate;
}

}  // namespace berth::pipeline
