// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/layered_overlap.hpp"

#include "positive.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::speed {
namespace {

double sum_of(std::span<const Layer> layers, double Layer::*part) {
  double sum = 0.0;
  for (const Layer& layer : layers) sum += layer.*part;
  return sum;
}

/// Length of the union of intervals.
double union_length(std::vector<std::pair<double, double>> intervals) {
  std::ranges::sort(intervals);
  double length = 0.0;
  double end = -std::numeric_limits<double>::infinity();
  for (const auto& [from, to] : intervals) {
    length += std::max(0.0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return length;
}

/// Seconds at which each layer's transfer ends on one channel that always carries the released
/// layer nearest to the input. release[j] and work[j] in seconds.
std::vector<double> priority_ends(std::span<const double> release, std::span<const double> work) {
  std::vector<double> left(work.begin(), work.end());
  std::vector<double> ends(work.size());
  double now = 0.0;
  for (std::size_t remaining = work.size(); remaining > 0;) {
    std::size_t chosen = work.size();
    double next = std::numeric_limits<double>::infinity();  // release of a preferred layer
    for (std::size_t j = 0; j < work.size() && chosen == work.size(); ++j) {
      if (left[j] < 0.0) continue;
      if (release[j] <= now) chosen = j;
      if (release[j] > now) next = std::min(next, release[j]);
    }
    if (chosen == work.size()) {
      now = next;
      continue;
    }
    const double step = std::min(left[chosen], next - now);
    now += step;
    left[chosen] -= step;
    if (left[chosen] > 0.0 && now < next) left[chosen] = 0.0;  // rounding
    if (left[chosen] == 0.0) {
      ends[chosen] = now;
      left[chosen] = -1.0;
      --remaining;
    }
  }
  return ends;
}

}  // namespace

double sequential_seconds(std::span<const Layer> layers) {
  return sum_of(layers, &Layer::backward) + 2.0 * sum_of(layers, &Layer::transfer) +
         sum_of(layers, &Layer::forward);
}

WaitFree wait_free(std::span<const Layer> layers) {
  const std::size_t n = layers.size();
  WaitFree result{.push = std::vector<double>(n), .pull = std::vector<double>(n)};
  if (n == 0) return result;
  std::vector<std::pair<double, double>> transfers;
  double backward = 0.0;
  for (std::size_t j = n; j-- > 0;) {
    const Layer& layer = layers[j];
    backward += layer.backward;
    const bool top = j + 1 == n;
    const double above = top ? 0.0 : layers[j + 1].transfer;
    result.push[j] = top ? backward : std::max(backward, result.push[j + 1] + above);
    const double pushed = result.push[j] + layer.transfer;
    result.pull[j] = top ? pushed : std::max(pushed, result.pull[j + 1] + above);
    transfers.emplace_back(result.push[j], pushed);
    transfers.emplace_back(result.pull[j], result.pull[j] + layer.transfer);
  }
  const double received = result.pull[0] + layers[0].transfer;  // tau_1
  result.seconds = received + sum_of(layers, &Layer::forward);
  const double exposed = union_length(std::move(transfers));
  const double transfer = 2.0 * sum_of(layers, &Layer::transfer);
  if (backward > 0.0) result.backward_factor = (received - exposed) / backward;
  if (transfer > 0.0) result.transfer_factor = exposed / transfer;
  return result;
}

double priority_seconds(std::span<const Layer> layers, double slice) {
  std::vector<double> release(layers.size()), work(layers.size());
  double backward = 0.0;
  for (std::size_t j = layers.size(); j-- > 0;) {
    backward += layers[j].backward;
    release[j] = backward;
    work[j] = layers[j].transfer;
  }
  const std::vector<double> ends = priority_ends(release, work);
  double end = 0.0;
  for (std::size_t j = 0; j < layers.size(); ++j) {
    end = std::max(end, ends[j] + slice) + layers[j].forward;
  }
  return end;
}

double iterations_per_second(const OverlapJob& job, double workers, double servers) {
  const bool synchronous = job.sending_workers == 0.0;
  const double samples = synchronous ? job.batch / workers : job.batch;
  const double sending = synchronous ? 1.0 : job.sending_workers;
  const double seconds = job.forward_factor * samples * job.forward +
                         job.backward_factor * job.backward +
                         2.0 * job.transfer_factor * sending * (job.model_gbit / servers) /
                             (job.server_gbps / workers) +
                         job.worker_overhead * workers + job.server_overhead * servers;
  return (synchronous ? 1.0 : workers) / seconds;
}

OverlapModel::OverlapModel(std::span<const OverlapProfile> jobs, const Model& others)
    : jobs_(jobs), others_(&others) {
  for (const OverlapProfile& profile : jobs) {
    if (profile.reference == 0.0) continue;
    const OverlapJob& job = profile.job;
    check_amounts(
        "overlap", {profile.reference, job.batch, job.server_gbps, job.forward},
        {job.backward, job.model_gbit, job.worker_overhead, job.server_overhead, job.forward_factor,
         job.backward_factor, job.transfer_factor, job.sending_workers});
  }
}

void OverlapModel::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  others_->rates(running, rates);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const OverlapProfile& profile = jobs_[running[i].job.index()];
    double workers = 0.0, servers = 0.0;
    for (const MachineTasks& on : running[i].machines) {
      workers += on.workers;
      servers += on.servers;
    }
    if (profile.reference == 0.0 || workers == 0.0 || servers == 0.0) continue;
    OverlapJob job = profile.job;
    if (running[i].batch > 0) job.batch = static_cast<double>(running[i].batch);
    rates[i] = {.per_second = iterations_per_second(job, workers, servers) / profile.reference};
  }
}

}  // namespace berth::speed
