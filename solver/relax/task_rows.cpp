// SPDX-License-Identifier: Apache-2.0
#include "task_rows.hpp"

#include <algorithm>
#include <map>

namespace berth::solver {
namespace {

model::Shape sum_of(std::span<const model::Shape> shapes, const planner_model::TaskProfile& tasks) {
  model::Shape total;
  for (const auto& t : tasks.groups) {
    const model::Shape& s = shapes[t.shape.index()];
    total.needs += std::int64_t{t.count} * s.needs;
    total.gpus += t.count * s.gpus;
    total.gpu_milli += t.count * s.gpu_milli;
  }
  return total;
}

/// True when one such bundle fits an empty machine of the bin type.
bool holds(const BinType& bin, const model::Shape& total) {
  if (!total.needs.within(bin.room) || total.gpus > bin.whole) return false;
  return total.gpu_milli == 0 || bin.whole > 0 ||
         (!bin.partial.empty() && bin.share(total) <= bin.partial.front());
}

/// Bundles of one job: all of its tasks, or one of each shape, with their numbers.
std::vector<std::pair<planner_model::TaskProfile, std::int64_t>> tasks_of_bundles(
    const JobGroup& group) {
  if (group.together) return {{group.tasks, 1}};
  std::vector<std::pair<planner_model::TaskProfile, std::int64_t>> bundles;
  for (const auto& t : group.tasks.groups) {
    planner_model::TaskProfile one;
    one.groups.push_back({t.shape, 1});
    bundles.emplace_back(std::move(one), t.count);
  }
  return bundles;
}

}  // namespace

TaskRows::TaskRows(std::span<const model::Shape> shapes, const JobCounts& jobs,
                   std::span<const BinType> bins, std::size_t slots)
    : shapes_(shapes), slots_(slots), rows_(shapes.size() * slots, -1), bundles_on_(slots) {
  add_bundles(jobs, bins);
  share_rows(jobs);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (const std::int32_t b : bundles_on_[slot]) {
      for (const auto& t : bundles_[static_cast<std::size_t>(b)].tasks.groups)
        add_row(t.shape, slot);
    }
  }
}

/// The bundles of all jobs, each on the slots where a job may have it and a machine holds it.
void TaskRows::add_bundles(const JobCounts& jobs, std::span<const BinType> bins) {
  struct BundleUse {
    std::int64_t copies = 0;
    std::vector<char> on;  ///< by slot
  };
  std::map<planner_model::TaskProfile, BundleUse> found;
  for (const auto& [group, count] : jobs) {
    for (const auto& [tasks, copies] : tasks_of_bundles(group)) {
      BundleUse& use = found[tasks];
      use.copies += copies * count;
      use.on.resize(slots_, 0);
      const bool on_gpus = sum_of(shapes_, tasks).uses_gpu();
      if (!on_gpus) std::ranges::fill(use.on, 1);
      for (const auto& option : group.options) use.on[on_gpus ? slot_of(option.type) : 0] = 1;
    }
  }
  for (auto& [tasks, use] : found) {
    const model::Shape total = sum_of(shapes_, tasks);
    std::vector<char> held(slots_, 0);
    for (const BinType& bin : bins) {
      if (holds(bin, total)) held[bin.slot] = 1;
    }
    for (std::size_t s = 0; s < slots_; ++s) {
      if (use.on[s] == 0 || held[s] == 0) continue;
      bundles_on_[s].push_back(static_cast<std::int32_t>(bundles_.size()));
    }
    copies_.push_back(use.copies);
    bundles_.push_back({tasks, total});
  }
}

/// Finds for each shape and slot the first slot on which every group has an equal option.
void TaskRows::share_rows(const JobCounts& jobs) {
  using Offers = std::vector<std::pair<std::size_t, const JobGroup::Option*>>;
  std::vector<Offers> offers(rows_.size());  // group and option by shape and slot, ascending groups
  std::vector<char> alone(shapes_.size(), 1);  // no other shape with GPUs in any of its groups
  for (std::size_t g = 0; g < jobs.size(); ++g) {
    const JobGroup& group = jobs[g].first;
    const auto uses_gpu = [&](const auto& t) { return shapes_[t.shape.index()].uses_gpu(); };
    const bool several = std::ranges::count_if(group.tasks.groups, uses_gpu) > 1;
    for (const auto& t : group.tasks.groups) {
      if (!uses_gpu(t)) continue;
      if (several) alone[t.shape.index()] = 0;
      for (const JobGroup::Option& option : group.options) {
        offers[t.shape.index() * slots_ + slot_of(option.type)].emplace_back(g, &option);
      }
    }
  }
  const auto equal = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second->value == b.second->value &&
           a.second->loads == b.second->loads;
  };
  for (std::size_t at = 0; at < offers.size(); ++at) {
    const std::size_t first = at - at % slots_;  // of the shape
    std::size_t twin = alone[at / slots_] != 0 ? first : at;
    while (twin < at && !std::ranges::equal(offers[twin], offers[at], equal)) ++twin;
    twin_.push_back(twin % slots_);
  }
}

void TaskRows::add_row(ShapeId id, std::size_t slot) {
  const model::Shape& shape = shapes_[id.index()];
  const std::size_t first = id.index() * slots_;
  std::int32_t& row = rows_[first + slot];
  if (row >= 0) return;
  for (std::size_t s = 0; s < slots_ && row < 0; ++s) {
    if (!shape.uses_gpu() || twin_[first + s] == twin_[first + slot]) row = rows_[first + s];
  }
  if (row < 0) {
    row = static_cast<std::int32_t>(count_++);
    gpus_.push_back(static_cast<double>(shape.total_milli()) / 1000.0);
    slots_of_.emplace_back();
  }
  if (shape.uses_gpu()) {
    slots_of_[static_cast<std::size_t>(row)].push_back(slot);
  } else {
    std::fill_n(rows_.begin() + static_cast<std::ptrdiff_t>(first), slots_, row);
  }
}

std::vector<std::pair<std::int32_t, std::int64_t>> TaskRows::bundles_of(
    const JobGroup& group) const {
  std::vector<std::pair<std::int32_t, std::int64_t>> found;
  for (const auto& [tasks, copies] : tasks_of_bundles(group)) {
    const auto at = std::ranges::lower_bound(bundles_, tasks, {}, &TaskBundle::tasks);
    found.emplace_back(static_cast<std::int32_t>(at - bundles_.begin()), copies);
  }
  return found;
}

void TaskRows::add_limits(std::vector<std::uint32_t> limits) {
  limits_ = std::move(limits);
  count_ += limits_.size();
}

bool TaskRows::possible(const JobGroup& group, const JobGroup::Option& option) const {
  return std::ranges::all_of(group.tasks.groups, [&](const auto& t) {
    return row(t.shape, slot_of_task(t.shape, option.type)) >= 0;
  });
}

TaskRows::Entries TaskRows::demand(const JobGroup& group, const JobGroup::Option& option) const {
  Entries entries;
  for (const auto& t : group.tasks.groups) {
    entries.emplace_back(row(t.shape, slot_of_task(t.shape, option.type)), t.count);
  }
  for (const auto& [limit, amount] : option.loads) {
    const auto at = std::ranges::lower_bound(limits_, limit);
    if (at == limits_.end() || *at != limit) continue;
    const auto position = static_cast<std::size_t>(at - limits_.begin());
    entries.emplace_back(static_cast<std::int32_t>(first_limit() + position), amount);
  }
  return entries;
}

TaskRows::Entries TaskRows::content(std::int32_t bundle, std::size_t slot) const {
  Entries entries;
  for (const auto& t : bundles_[static_cast<std::size_t>(bundle)].tasks.groups) {
    entries.emplace_back(row(t.shape, slot), t.count);
  }
  return entries;
}

std::vector<TaskPrice> TaskRows::task_prices(std::span<const double> price) const {
  std::vector<TaskPrice> prices;
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      const std::int32_t r = row(ShapeId(shape), slot);
      if (r < 0 || price[static_cast<std::size_t>(r)] <= 0.0) continue;
      prices.push_back({ShapeId(shape), type_of_slot(slot), price[static_cast<std::size_t>(r)]});
    }
  }
  return prices;
}

}  // namespace berth::solver
