// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tiny.hpp"

#include <cstdint>

#include "berth/base/random.hpp"
#include "berth/model/certificate.hpp"

namespace berth::test {

/// Random draws, a function of a seed and their order.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(
        random_below(static_cast<std::uint64_t>(bound), {seed_, draws_++}));
  }
  std::int64_t one_of(std::initializer_list<std::int64_t> values) {
    return values.begin()[below(static_cast<std::int64_t>(values.size()))];
  }
  bool chance(std::int64_t percent) { return below(100) < percent; }

 private:
  std::uint64_t seed_, draws_ = 0;
};

/// At most 4 machines in 3 racks of 2 pods, 3 classes (two GPU types, one without GPUs), at most
/// 6 jobs: whole GPUs, shares, CPU-only groups, gangs, homes, spread factors, domains, types.
model::Instance random_tiny(Dice& dice);

/// 3 to 6 machines of one class in racks of 1 to 3, in one pod; 3 to 6 jobs, most of them gangs
/// whose tasks take whole machines and that are worth more in a rack.
model::Instance random_gangs(Dice& dice);

/// The instance with NICs that some tasks use, and GPUs that some classes cut into slices.
model::Instance with_more_limits(Dice& dice, model::Instance instance);

/// The same with tasks that draw power, and power budgets of some racks and pods.
model::Instance with_power_budgets(Dice& dice, model::Instance instance);

/// The same with rules of some jobs about the machines of their tasks.
model::Instance with_rules(Dice& dice, model::Instance instance);
/// Adds two licenses, 0 to 4 of each, and jobs that take up to 3 of them.
model::Instance with_licenses(Dice& dice, model::Instance instance);

/// The same with spare GPUs of some pods.
model::Instance with_spare(Dice& dice, model::Instance instance);

/// Prices of one of several kinds (none, pools, shapes, all), of the magnitude of the values.
model::Certificate random_prices(Dice& dice, const model::Instance& instance,
                                 model::Objective objective);

/// Adds prices of some gangs in racks, where they may have one.
void add_gang_prices(Dice& dice, const model::Instance& instance, model::Certificate& prices);

/// The certificate with one price raised, lowered or removed.
model::Certificate nudged(Dice& dice, model::Certificate prices);

}  // namespace berth::test
