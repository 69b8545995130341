// SPDX-License-Identifier: Apache-2.0
// The claims of docs/papers.md about ONES, on two seeds of its trace.
#include "ones_world.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "berth/papers/berth_elastic.hpp"
#include "berth/papers/ones.hpp"
#include "berth/policy/policy.hpp"

namespace berth::bench {
namespace {

/// Sums over the seeds of mean completion times.
struct Means {
  double ones = 0.0, optimus = 0.0, srsf = 0.0, tiresias = 0.0;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Means means_of(const OnesSetting& setting) {
  Means means;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto run = [&](const auto& make, double change) {
      OnesWorld world(setting, seed);
      const auto policy = make(world);
      return mean(world.run(*policy, setting.restart, change));
    };
    const auto fixed = [&](const char* name) {
      return run([&](OnesWorld&) { return policy::policy_row(name).make({}); }, setting.restart);
    };
    means.ones += run(
        [&](OnesWorld& world) {
          papers::OnesOptions options;
          options.monitor.history = world.history;
          return papers::make_ones({world.instance, world.profiles, seed}, world.training, options);
        },
        setting.resize);
    means.optimus += run(
        [&](OnesWorld& world) {
          return papers::make_optimus_elastic({world.instance, world.profiles, seed},
                                              60 * policy::kSecond);
        },
        setting.restart);
    means.srsf += fixed("srsf");
    means.tiresias += fixed("las");
  }
  return means;
}

// The order of the artifact, and its distances at least.
TEST(OnesExperiment, IsAheadWithBatchesAsSubmitted) {
  const Means means = means_of({.name = "submitted", .faster = 4, .grown = false});
  EXPECT_LT(means.ones, means.optimus);
  EXPECT_LT(means.optimus, means.srsf);
  EXPECT_LT(means.ones, 0.75 * means.srsf);
  EXPECT_LT(means.ones, 0.60 * means.tiresias);
}

}  // namespace
}  // namespace berth::bench
