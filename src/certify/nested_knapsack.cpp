// SPDX-License-Identifier: Apache-2.0
#include "nested_knapsack.hpp"

#include "capacity_tree.hpp"
#include "large_items.hpp"
#include "subtree_profile.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace berth::certify {
namespace {

/// How the bound of a node is found.
enum class Method : std::uint8_t {
  priced,  ///< at its price
  exact,   ///< with all nodes below
  within,  ///< part of a node above
};

/// The largest subtrees that are affordable, nodes above before nodes below.
std::vector<Method> methods(const CapacityTree& tree, std::int64_t left) {
  std::vector<Method> method(tree.size(), Method::priced);
  for (std::size_t n = 0; n < tree.size(); ++n) {
    const std::int32_t parent = tree.node(n).parent;
    if (parent >= 0 && method[static_cast<std::size_t>(parent)] != Method::priced) {
      method[n] = Method::within;
      continue;
    }
    const std::int64_t cells = SubtreeProfile(tree, n).cells();
    if (cells > left) continue;
    left -= cells;
    method[n] = Method::exact;
  }
  return method;
}

Int128 at_price(const CapacityTree& tree, std::size_t n, const std::vector<Int128>& bounds) {
  Int128 bound = tree.node(n).price * tree.node(n).capacity + tree.must_net(n);
  for (const ChoiceItem& item : tree.own(n)) bound += std::max<Int128>(0, item.net);
  for (const std::size_t c : tree.children(n)) bound += bounds[c];
  return bound;
}

}  // namespace

Int128 nested_knapsack_bound(std::span<const CapacityNode> nodes, std::span<const ChoiceItem> items,
                             const KnapsackWork& work) {
  const CapacityTree tree(nodes, items);
  const std::vector<Method> method = methods(tree, work.exact);
  const auto priced = std::ranges::count(method, Method::priced);
  std::vector<Int128> bounds(tree.size(), 0);
  for (std::size_t n = tree.size(); n-- > 0;) {
    if (method[n] == Method::exact) bounds[n] = SubtreeProfile(tree, n).bound();
    if (method[n] != Method::priced) continue;
    bounds[n] = at_price(tree, n, bounds);
    if (tree.node(n).penalty) continue;
    bounds[n] = std::min(bounds[n], large_items_bound(tree, n, work.large / priced));
  }
  return bounds.front();
}

}  // namespace berth::certify
