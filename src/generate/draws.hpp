// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/base/random.hpp"

/// Random draws of the generators. They use no function of libm but the square root, which IEEE 754
/// rounds correctly: a seed gives identical bits on every machine.
namespace berth::generate {

/// Stages of a generator: the second part of every random key.
enum class Draw : std::uint64_t { outfit, order, job, size, pod };

/// The draws of one job, in a fixed order for each purpose.
class Dice {
 public:
  Dice(std::uint64_t seed, std::size_t job) : Dice(seed, Draw::job, job) {}
  Dice(std::uint64_t seed, Draw stage, std::size_t index)
      : seed_(seed), stage_(static_cast<std::uint64_t>(stage)), index_(index) {}

  double unit() { return random_unit({seed_, stage_, index_, turn_++}); }
  bool chance(double probability) { return unit() < probability; }
  std::size_t below(std::size_t bound) {
    return random_below(bound, {seed_, stage_, index_, turn_++});
  }
  template <class Table>
  const auto& pick(const Table& table) {
    return table[below(table.size())];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t stage_;
  std::size_t index_;
  std::uint64_t turn_ = 0;
};

/// Thousandths of exp(0.6 z) for a normal z: linear between the quantiles 1/32, 2/32 .. 31/32, and
/// beyond them to end points that give the true mean, 1.197. Between 0.15 and 4.8.
std::int64_t log_normal_milli(Dice& dice);

/// base^exponent for base > 0 and |exponent| <= 64, from products and square roots alone.
double power(double base, double exponent);

/// A cumulative draw: the index i with probability weights[i] / (their sum).
template <class Table, class Weight>
std::size_t draw_index(Dice& dice, const Table& table, Weight weight) {
  double total = 0.0;
  for (const auto& row : table) total += static_cast<double>(weight(row));
  double left = dice.unit() * total;
  std::size_t i = 0;
  while (i + 1 < table.size() && left >= static_cast<double>(weight(table[i]))) {
    left -= static_cast<double>(weight(table[i++]));
  }
  return i;
}

}  // namespace berth::generate
