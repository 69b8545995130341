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

// With batches as submitted: the order of the artifact, and its distances at least. With batches
// that grow ONES is behind Optimus: the control.
TEST(OnesExperiment, BatchesDecideTheOrder) {
  const Means submitted = means_of({.name = "submitted", .faster = 4, .grown = false});
  EXPECT_LT(submitted.ones, submitted.optimus);
  EXPECT_LT(submitted.optimus, submitted.srsf);
  EXPECT_LT(submitted.ones, 0.75 * submitted.srsf);
  EXPECT_LT(submitted.ones, 0.60 * submitted.tiresias);
  const Means grown = means_of({.name = "grown", .faster = 4});
  EXPECT_GT(grown.ones, grown.optimus);
}

}  // namespace
}  // namespace berth::bench
