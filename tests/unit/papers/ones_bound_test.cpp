// SPDX-License-Identifier: Apache-2.0
// The bound of the ONES experiment: no policy is below it, and it is near what can be had.
#include "ones_proof.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "berth/papers/berth_elastic.hpp"
#include "berth/papers/ones.hpp"
#include "berth/policy/policy.hpp"

namespace berth::bench {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The least mean of policies that know the work or not, at no cost of a change.
double best_mean(const OnesSetting& setting, std::uint64_t seed) {
  double best = std::numeric_limits<double>::infinity();
  const auto run = [&](auto&& make) {
    OnesWorld world(setting, seed);
    const auto policy = make(world);
    best = std::min(best, mean(world.run(*policy, 0.0, 0.0)));
  };
  run([&](OnesWorld& world) {
    papers::ElasticOptions options;
    options.knowledge = papers::ElasticKnowledge::profiles;
    return papers::make_berth_elastic({world.instance, world.profiles, seed}, world.training,
                                      options);
  });
  run([&](OnesWorld& world) {
    return papers::make_optimus_elastic({world.instance, world.profiles, seed}, policy::kSecond);
  });
  run([](OnesWorld&) { return policy::policy_row("srsf").make({}); });
  return best;
}

TEST(OnesBound, IsBelowEveryPolicyAndNotFarBelow) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    // One job; several at a time; many on few GPUs, where the least GPU-time decides.
    const OnesSetting settings[] = {
        {.name = "one", .jobs = 1, .machines = 1},
        {.name = "few", .jobs = 3, .machines = 2, .gap = 0.0, .spread = 0.0},
        {.name = "many", .jobs = 8, .machines = 1, .gap = 0.0, .spread = 0.0}};
    const double least[] = {0.75, 0.4, 0.6};
    for (std::size_t s = 0; s < std::size(settings); ++s) {
      const OnesWorld world(settings[s], seed);
      const double bound = proved_mean(world);
      EXPECT_NEAR(bound, world.least_mean(), 1e-5 * bound);  // that of the library, in doubles
      const double best = best_mean(settings[s], seed);
      EXPECT_LE(bound, best * (1.0 + 1e-6)) << "seed " << seed << ", setting " << s;
      EXPECT_GE(bound, least[s] * best) << "seed " << seed << ", setting " << s;
    }
  }
}

}  // namespace
}  // namespace berth::bench
