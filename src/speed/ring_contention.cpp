// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/ring_contention.hpp"

#include "positive.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace berth::speed {
namespace {

/// Rounds of the fixed point. They grow towards it; each round doubles its digits at least where
/// communication is half of the time or less.
constexpr int kMaxRounds = 64;
constexpr double kRoundTolerance = 1e-12;  ///< relative change of an iteration's time

/// A ring while rates are computed.
struct ActiveRing {
  std::size_t index = 0;  ///< in the caller's list
  const RingJob* job = nullptr;
  double workers = 0.0;
  double batch = 0.0;  ///< samples of an iteration, all workers
  double machines = 0.0;
  std::vector<std::uint64_t> links;  ///< ascending
  double seconds = 0.0;              ///< of an iteration
  double duty = 0.0;                 ///< part of it spent in communication over links
};

enum LinkLevel : std::uint64_t { kNic = 0, kRackUplink = 1, kPodUplink = 2 };

std::uint64_t link_key(LinkLevel level, std::size_t index) {
  return level << 32 | static_cast<std::uint64_t>(index);
}

class RingLinks {
 public:
  RingLinks(const model::Cluster& cluster, const RingOptions& options)
      : cluster_(cluster), options_(options) {}

  /// Links of the machines, racks and pods that hold a part of the ring.
  [[nodiscard]] std::vector<std::uint64_t> of(const RunningJob& running) const {
    std::vector<std::uint64_t> links[3];
    for (const MachineTasks& on : running.machines) {
      if (on.workers == 0) continue;
      const RackId rack = cluster_.machine_rack[on.machine.index()];
      add(links[kNic], link_key(kNic, on.machine.index()));
      add(links[kRackUplink], link_key(kRackUplink, rack.index()));
      add(links[kPodUplink], link_key(kPodUplink, cluster_.racks[rack.index()].pod.index()));
    }
    std::vector<std::uint64_t> crossed;
    for (const auto& level : links) {
      if (level.size() > 1) crossed.insert(crossed.end(), level.begin(), level.end());
    }
    std::ranges::sort(crossed);
    return crossed;
  }

  [[nodiscard]] double gbps(std::uint64_t link) const {
    const std::size_t index = link & 0xffffffff;
    if (link >> 32 == kRackUplink) return cluster_.racks[index].uplink_gbps;
    if (link >> 32 == kPodUplink) return cluster_.pods[index].uplink_gbps;
    constexpr double kMbpsPerGbps = 1000.0;
    const std::int64_t nic = cluster_.class_of(MachineId(index)).capacity[model::kNic];
    return nic == model::kNoLimit ? options_.external_gbps
                                  : static_cast<double>(nic) / kMbpsPerGbps;
  }

 private:
  static void add(std::vector<std::uint64_t>& links, std::uint64_t link) {
    if (links.empty() || links.back() != link) links.push_back(link);
  }

  const model::Cluster& cluster_;
  const RingOptions& options_;
};

/// Rings on links. Jobs are in ascending order of id, so that sums do not depend on the caller's.
class RingRates {
 public:
  RingRates(const RingLinks& links, const RingOptions& options, std::vector<ActiveRing>& rings)
      : options_(options), rings_(rings) {
    for (std::size_t r = 0; r < rings.size(); ++r) {
      for (const std::uint64_t link : rings[r].links) users_.push_back({link, r});
    }
    std::ranges::sort(users_);
    for (std::size_t u = 0; u < users_.size(); ++u) {
      if (u == 0 || users_[u].first != users_[u - 1].first)
        gbps_.push_back(links.gbps(users_[u].first));
    }
  }

  void solve() {
    set_times();
    if (options_.sharing == LinkSharing::count) return;
    for (int round = 0; round < kMaxRounds && set_times(); ++round) {
    }
  }

 private:
  /// f(alpha, k)
  [[nodiscard]] double degradation(double k) const {
    return std::max(1.0, k + options_.degradation * (k - 1.0));
  }

  /// Sets the time of every iteration by the duties so far; whether any has changed.
  bool set_times() {
    std::vector<double> gbps(rings_.size(), options_.internal_gbps);
    std::vector<char> crosses(rings_.size(), 0);
    std::size_t link = 0;
    for (std::size_t first = 0; first < users_.size(); ++link) {
      std::size_t end = first;
      double duty = 0.0;
      for (; end < users_.size() && users_[end].first == users_[first].first; ++end) {
        duty += rings_[users_[end].second].duty;
      }
      const auto count = static_cast<double>(end - first);
      for (std::size_t u = first; u < end; ++u) {
        const std::size_t r = users_[u].second;
        const double k = options_.sharing == LinkSharing::count
                             ? options_.contention * count
                             : 1.0 + std::max(0.0, duty - rings_[r].duty);
        const double share = gbps_[link] / degradation(k);
        gbps[r] = crosses[r] != 0 ? std::min(gbps[r], share) : share;
        crosses[r] = 1;
      }
      first = end;
    }
    bool changed = false;
    for (std::size_t r = 0; r < rings_.size(); ++r) {
      const double before = rings_[r].seconds;
      set_time(rings_[r], gbps[r]);
      changed = changed || std::abs(rings_[r].seconds - before) > kRoundTolerance * before;
    }
    return changed;
  }

  /// Equation (8).
  void set_time(ActiveRing& ring, double gbps) const {
    const RingJob& job = *ring.job;
    const double steps = (ring.workers - 1.0) / ring.workers;
    const double transfer = job.gradient_gbit * 2.0 * steps / gbps;
    const double compute = job.gradient_gbit * steps / job.reduce_gbps +
                           options_.seconds_per_machine * ring.machines +
                           job.forward_per_sample * ring.batch / ring.workers + job.backward;
    ring.seconds = transfer + compute;
    ring.duty = ring.links.empty() || ring.seconds == 0.0 ? 0.0 : transfer / ring.seconds;
  }

  const RingOptions& options_;
  std::vector<ActiveRing>& rings_;
  std::vector<std::pair<std::uint64_t, std::size_t>> users_;  // link and ring, ascending
  std::vector<double> gbps_;                                  // by link, as in users_
};

}  // namespace

RingModel::RingModel(const model::Cluster& cluster, std::span<const RingJob> jobs,
                     const RingOptions& options, const Model& others)
    : cluster_(&cluster), jobs_(jobs), options_(options), others_(&others) {
  check_amounts("rings", {options.internal_gbps, options.external_gbps, options.contention},
                {options.degradation, options.seconds_per_machine});
  for (const RingJob& job : jobs) {
    if (job.reference == 0.0) continue;
    check_amounts(
        "rings", {job.batch, job.reduce_gbps, job.reference, job.forward_per_sample + job.backward},
        {job.gradient_gbit, job.forward_per_sample, job.backward});
  }
}

void RingModel::shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const {
  others_->shared(job, keys);
  if (jobs_[job.job.index()].reference == 0.0) return;
  const auto links = RingLinks(*cluster_, options_).of(job);
  keys.insert(keys.end(), links.begin(), links.end());
}

void RingModel::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  others_->rates(running, rates);
  const RingLinks links(*cluster_, options_);
  std::vector<ActiveRing> rings;
  for (std::size_t i = 0; i < running.size(); ++i) {
    const RingJob& job = jobs_[running[i].job.index()];
    if (job.reference == 0.0) continue;
    ActiveRing ring{.index = i, .job = &job, .links = links.of(running[i])};
    for (const MachineTasks& on : running[i].machines) {
      ring.workers += on.workers;
      ring.machines += on.workers > 0 ? 1.0 : 0.0;
    }
    if (ring.workers == 0.0) continue;
    ring.batch =
        running[i].batch > 0 ? static_cast<double>(running[i].batch) : job.batch * ring.workers;
    rings.push_back(std::move(ring));
  }
  std::ranges::sort(rings, {}, [&](const ActiveRing& r) { return running[r.index].job; });
  RingRates(links, options_, rings).solve();
  for (const ActiveRing& ring : rings) {
    rates[ring.index] = {.per_second = ring.batch / ring.seconds / ring.job->reference};
  }
}

}  // namespace berth::speed
