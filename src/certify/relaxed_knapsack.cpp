// SPDX-License-Identifier: Apache-2.0
#include "relaxed_knapsack.hpp"

#include <algorithm>

namespace berth::certify {
namespace {

using model::kResources;
using Item = MachineKnapsack::Item;
using Content = RelaxedKnapsack::Content;

void add(const Item& item, Int128 times, Content& content) {
  content.price += item.price * times;
  for (std::size_t r = 0; r < kResources; ++r) content.needs[r] += times * item.needs[r];
}

}  // namespace

RelaxedKnapsack::RelaxedKnapsack(const MachineKnapsack& knapsack) : knapsack_(knapsack) {
  on_devices_.resize((knapsack.tasks().size() + 1) * (knapsack.whole() + 1));
  on_steps_.resize((knapsack.shares().size() + 1) * (knapsack.width() + 1));
  on_partly_.resize(knapsack.partly().size() + 1);
  without_gpus_.resize(knapsack.without_gpus().size() + 1);
}

Int128 RelaxedKnapsack::reduced(const Item& item) const {
  Int128 earned = item.price;
  for (const std::size_t r : knapsack_.binding()) earned -= multipliers_[r] * item.needs[r];
  return earned;
}

void RelaxedKnapsack::set(const Multipliers& multipliers) {
  multipliers_ = multipliers;
  capacity_ = 0;
  for (const std::size_t r : knapsack_.binding()) capacity_ += multipliers[r] * knapsack_.room()[r];
  const std::size_t steps = knapsack_.width() + 1, devices = knapsack_.whole() + 1;
  const auto shares = knapsack_.shares(), tasks = knapsack_.tasks();
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const Int128 gain = reduced(shares[k]);
    const Int128* without = &on_steps_[k * steps];
    Int128* with = &on_steps_[(k + 1) * steps];
    std::copy_n(without, steps, with);
    if (gain <= 0) continue;
    for (std::size_t w = knapsack_.width(shares[k]); w < steps; ++w) {
      with[w] = std::max(with[w], with[w - knapsack_.width(shares[k])] + gain);
    }
  }
  for (std::size_t g = 0; g < devices; ++g) on_devices_[g] = Int128(g) * on_steps(steps - 1);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const Int128 gain = reduced(tasks[k]);
    const auto size = static_cast<std::size_t>(tasks[k].devices);
    const Int128* without = &on_devices_[k * devices];
    Int128* with = &on_devices_[(k + 1) * devices];
    std::copy_n(without, devices, with);
    if (gain <= 0) continue;
    for (std::size_t g = size; g < devices; ++g) with[g] = std::max(with[g], with[g - size] + gain);
  }
  const auto partly = knapsack_.partly();
  for (std::size_t i = partly.size(); i-- > 0;) {
    on_partly_[i] = on_partly_[i + 1] + on_steps(partly[i]);
  }
  const auto others = knapsack_.without_gpus();
  for (std::size_t k = 0; k < others.size(); ++k) {
    const Int128 gain = std::max<Int128>(0, reduced(others[k]));
    without_gpus_[k + 1] = without_gpus_[k] + gain * others[k].most;
  }
}

Int128 RelaxedKnapsack::earned() const {
  return on_devices(knapsack_.tasks().size(), knapsack_.whole()) + on_partly(0) +
         without_gpus_.back();
}

void RelaxedKnapsack::add_shares(std::size_t steps, std::int64_t times, Content& content) const {
  std::size_t k = knapsack_.shares().size();
  while (k > 0) {
    const Item& share = knapsack_.shares()[k - 1];
    if (on_steps(k, steps) == on_steps(k - 1, steps)) {
      --k;
      continue;
    }
    add(share, times, content);
    steps -= knapsack_.width(share);
  }
}

Content RelaxedKnapsack::best() const {
  Content content;
  std::size_t k = knapsack_.tasks().size(), devices = knapsack_.whole();
  std::int64_t copies = 0;
  while (k > 0) {
    const Item& task = knapsack_.tasks()[k - 1];
    if (on_devices(k, devices) == on_devices(k - 1, devices)) {
      --k;
      copies = 0;
      continue;
    }
    add(task, 1, content);
    content.enough = content.enough && (++copies <= task.most || task.plenty);
    devices -= static_cast<std::size_t>(task.devices);
  }
  if (devices > 0) {
    add_shares(knapsack_.width(), static_cast<std::int64_t>(devices), content);
  }
  for (const std::size_t steps : knapsack_.partly()) add_shares(steps, 1, content);
  for (const Item& item : knapsack_.without_gpus()) {
    if (reduced(item) > 0) add(item, item.most, content);
  }
  return content;
}

}  // namespace berth::certify
