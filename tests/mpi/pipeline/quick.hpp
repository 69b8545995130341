// SPDX-License-Identifier: Apache-2.0
// What keeps tests of whole plans short, in the sanitizers' build above all.
#pragma once

#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline::test {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// The defaults with a tree of few cases: there is one, and it does not take most of the time.
inline PlanOptions quick_options() {
  PlanOptions options;
  options.tree_nodes = 4;
  return options;
}

}  // namespace berth::pipeline::test
