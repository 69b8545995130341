// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/sjf_bco/ring_batch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::papers {
namespace {

constexpr double kWholePart = 1e-9;  ///< relative: a rate that is this close to an integer is one

std::int64_t slots(std::int64_t iterations, std::int64_t per_slot) {
  return (iterations + per_slot - 1) / per_slot;
}

speed::RunningJob running(std::size_t job, std::span<const speed::MachineTasks> machines) {
  return {.job = JobId(job), .gpu_type = GpuTypeId(0), .machines = machines};
}

}  // namespace

std::int64_t RingBatch::gpus() const {
  return std::accumulate(servers.begin(), servers.end(), std::int64_t{0});
}

std::vector<std::int64_t> iterations_per_slot(const speed::Model& speeds,
                                              std::span<const speed::RunningJob> running) {
  std::vector<speed::Rate> rates(running.size());
  speeds.rates(running, rates);
  std::vector<std::int64_t> whole;
  for (const speed::Rate& rate : rates) {
    const double in_slot = std::floor(rate.per_second * (1.0 + kWholePart));
    if (in_slot < 1.0) throw std::invalid_argument("ring batch: an iteration longer than a slot");
    whole.push_back(static_cast<std::int64_t>(in_slot));
  }
  return whole;
}

std::int64_t best_iterations_per_slot(const RingBatch& batch, std::size_t job) {
  std::vector<std::size_t> order(batch.servers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t s) { return batch.servers[s]; });
  std::vector<speed::MachineTasks> machines;
  std::int32_t left = batch.jobs[job].gpus;
  for (const std::size_t server : order) {
    const std::int32_t taken = std::min(left, batch.servers[server]);
    if (taken == 0) break;
    machines.push_back({.machine = MachineId(server), .workers = taken, .gpus = taken});
    left -= taken;
  }
  BERTH_EXPECT(left == 0);
  std::ranges::sort(machines, {}, &speed::MachineTasks::machine);
  const speed::RunningJob alone = running(job, machines);
  return iterations_per_slot(*batch.speeds, std::span(&alone, 1)).front();
}

std::int64_t makespan_bound(const RingBatch& batch) {
  std::int64_t longest = 0;
  std::int64_t gpu_slots = 0;
  for (std::size_t j = 0; j < batch.jobs.size(); ++j) {
    const std::int64_t run = slots(batch.jobs[j].iterations, best_iterations_per_slot(batch, j));
    longest = std::max(longest, run);
    gpu_slots += run * batch.jobs[j].gpus;
  }
  return std::max(longest, slots(gpu_slots, batch.gpus()));
}

BatchClock::BatchClock(const RingBatch& batch)
    : batch_(&batch), idle_(batch.servers), runs_(batch.jobs.size()) {
  for (std::size_t s = 0; s < batch.servers.size(); ++s) {
    first_.push_back(gpus_.size());
    const auto more = static_cast<std::size_t>(batch.servers[s]);
    gpus_.resize(gpus_.size() + more, {.server = static_cast<std::uint32_t>(s)});
  }
  first_.push_back(gpus_.size());
}

void BatchClock::start(std::size_t job, std::span<const std::uint32_t> gpus) {
  BERTH_EXPECT(std::cmp_equal(gpus.size(), batch_->jobs[job].gpus) && runs_[job].start < 0);
  Active active{.job = job, .gpus = {gpus.begin(), gpus.end()}};
  active.left = batch_->jobs[job].iterations;
  std::ranges::sort(active.gpus);
  RingRun& run = runs_[job];
  run.start = now_;
  for (const std::uint32_t gpu : active.gpus) {
    BERTH_EXPECT(gpus_[gpu].idle);
    set_idle(gpu, false);
    gpus_[gpu].accumulated += batch_->jobs[job].estimate;
    const std::size_t server = gpus_[gpu].server;
    if (run.machines.empty() || run.machines.back().machine != MachineId(server))
      run.machines.push_back({.machine = MachineId(server)});
    ++run.machines.back().workers;
    ++run.machines.back().gpus;
  }
  std::vector<std::uint64_t> keys;
  batch_->speeds->shared(running(job, run.machines), keys);
  active.coupled = !keys.empty();
  rings_changed_ = rings_changed_ || active.coupled;
  active_.push_back(std::move(active));
}

void BatchClock::set_idle(std::uint32_t gpu, bool idle) {
  gpus_[gpu].idle = idle;
  idle_[gpus_[gpu].server] += idle ? 1 : -1;
}

void BatchClock::set_speeds() {
  std::vector<speed::RunningJob> asked;
  std::vector<std::size_t> at;
  for (std::size_t a = 0; a < active_.size(); ++a) {
    if (active_[a].coupled ? !rings_changed_ : active_[a].per_slot > 0) continue;
    asked.push_back(running(active_[a].job, runs_[active_[a].job].machines));
    at.push_back(a);
  }
  rings_changed_ = false;
  if (asked.empty()) return;
  const std::vector<std::int64_t> rates = iterations_per_slot(*batch_->speeds, asked);
  for (std::size_t i = 0; i < at.size(); ++i) active_[at[i]].per_slot = rates[i];
}

bool BatchClock::advance() {
  if (active_.empty()) return false;
  set_speeds();
  std::int64_t step = std::numeric_limits<std::int64_t>::max();
  for (const Active& a : active_) step = std::min(step, slots(a.left, a.per_slot));
  now_ += step;
  for (Active& a : active_) {
    a.left -= step * a.per_slot;
    if (a.left <= 0) finish(a);
  }
  std::erase_if(active_, [](const Active& a) { return a.left <= 0; });
  return true;
}

void BatchClock::finish(const Active& active) {
  runs_[active.job].end = now_;
  rings_changed_ = rings_changed_ || active.coupled;
  for (const std::uint32_t gpu : active.gpus) set_idle(gpu, true);
  ++ended_;
}

RingSchedule BatchClock::schedule() const {
  RingSchedule made{.runs = runs_, .makespan = 0, .complete = ended_ == runs_.size()};
  for (const RingRun& run : runs_) made.makespan = std::max(made.makespan, run.end);
  for (const Gpu& gpu : gpus_)
    made.most_accumulated = std::max(made.most_accumulated, gpu.accumulated);
  return made;
}

}  // namespace berth::papers
