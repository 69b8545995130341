// SPDX-License-Identifier: Apache-2.0
#include "gadget_world.hpp"

#include <algorithm>

#include "berth/base/random.hpp"

namespace berth::bench {
namespace {

constexpr std::uint64_t kGadgetDraws = 0x6AD9;

/// GadgetDraws of one job or server.
class GadgetDraws {
 public:
  GadgetDraws(std::uint64_t seed, std::uint64_t kind, std::uint64_t index)
      : seed_(seed), kind_(kind), index_(index) {}

  [[nodiscard]] double between(std::uint64_t what, double low, double high) const {
    return low + (high - low) * random_unit({kGadgetDraws, seed_, kind_, index_, what});
  }
  /// Whole, both ends included.
  [[nodiscard]] std::int32_t whole(std::uint64_t what, std::int32_t low, std::int32_t high) const {
    const auto range = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int32_t>(
                     random_below(range, {kGadgetDraws, seed_, kind_, index_, what}));
  }

 private:
  std::uint64_t seed_, kind_, index_;
};

papers::gadget::RingCluster draw_cluster(const GadgetSetting& setting, std::uint64_t seed) {
  papers::gadget::RingCluster cluster;
  const std::int32_t racks = GadgetDraws(seed, 1, 0).whole(1, 2, 5);
  for (std::int32_t r = 0; r < racks; ++r) {
    const GadgetDraws draws(seed, 2, static_cast<std::uint64_t>(r));
    cluster.rack_link.push_back(draws.between(1, 200.0, 3200.0));
  }
  for (std::size_t s = 0; s < setting.servers; ++s) {
    const GadgetDraws draws(seed, 3, s);
    cluster.gpus.push_back(1 << draws.whole(1, 0, 3));
    cluster.server_link.push_back(draws.between(2, 10.0, 100.0));
    cluster.rack.push_back(static_cast<std::size_t>(draws.whole(3, 0, racks - 1)));
  }
  return cluster;
}

}  // namespace

GadgetWorld draw_gadget_world(const GadgetSetting& setting, std::uint64_t seed) {
  GadgetWorld world;
  world.instance.slots = setting.slots;
  world.instance.cluster = draw_cluster(setting, seed);
  for (std::size_t j = 0; j < setting.jobs; ++j) {
    const GadgetDraws draws(seed, 4, j);
    const double efficiency = draws.whole(1, 50, 500);
    const double budget = draws.whole(2, 1000, 6000);
    const double priority = draws.whole(6, 1, 100);
    const double turn = draws.whole(8, 300, 3000);
    world.instance.jobs.push_back(
        {.arrival = draws.whole(3, 0, setting.slots - 1),
         .most = draws.whole(4, 1, 5),
         .budget = papers::gadget::worker_slots_of(budget, efficiency, setting.reading),
         .efficiency = efficiency,
         .bandwidth = draws.between(5, 0.1, 5.0),
         .family = setting.family,
         .c1 = priority,
         .c2 = draws.between(7, 0.0, 1.0),
         .c3 = turn});
    world.fixed.push_back(std::min(world.instance.jobs.back().most, draws.whole(9, 1, 10)));
  }
  return world;
}

std::int64_t midway(const papers::gadget::RingJob& job, std::uint64_t seed, std::size_t index) {
  const auto turn =
      std::min<std::int64_t>(static_cast<std::int64_t>(job.c3 / job.efficiency), job.budget);
  return GadgetDraws(seed, 5, index).whole(1, 0, static_cast<std::int32_t>(turn));
}

}  // namespace berth::bench
