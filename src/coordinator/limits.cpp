// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/limits.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;

/// One plan being trimmed.
class Trimmer {
 public:
  Trimmer(const model::Valuation& valuation, const model::Quotas& quotas, const model::Links& links,
          Ledger& ledger, Placement placement)
      : valuation_(valuation),
        workload_(valuation.instance().workload),
        quotas_(quotas),
        links_(links),
        ledger_(ledger),
        placement_(std::move(placement)),
        dropped_(placement_.size(), 0) {
    for (const JobPlacement& p : placement_) ledger_.add(p);
  }

  /// Children come after their parents in the file: they are trimmed first.
  void trim() {
    for (auto l = static_cast<std::uint32_t>(quotas_.limits().size()); l-- > 0;) trim_quota(l);
    for (std::uint32_t l = 0; l < links_.size() && !links_.idle(); ++l) trim_link(l);
  }

  [[nodiscard]] Placement kept() const {
    Placement kept;
    for (std::size_t i = 0; i < placement_.size(); ++i) {
      if (dropped_[i] == 0) kept.push_back(placement_[i]);
    }
    return kept;
  }

 private:
  /// (required, worth per unit, job, position): who goes first.
  using Candidate = std::tuple<bool, double, JobId, std::size_t>;

  template <class Amount>
  std::vector<Candidate> candidates(Amount amount) const {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < placement_.size(); ++i) {
      if (dropped_[i] != 0) continue;
      const JobPlacement& p = placement_[i];
      const auto taken = static_cast<double>(amount(p));
      if (taken <= 0.0) continue;
      found.emplace_back(workload_.job(p.job).required, valuation_.placed(p) / taken, p.job, i);
    }
    std::ranges::sort(found);
    return found;
  }

  void drop(std::size_t position) {
    dropped_[position] = 1;
    ledger_.remove(placement_[position]);
  }

  void trim_quota(std::uint32_t l) {
    if (ledger_.over(l) <= 0) return;
    const auto amount = [&](const JobPlacement& p) {
      const model::Job& job = workload_.job(p.job);
      return std::ranges::count(quotas_.of(job.queue), l) > 0 ? workload_.gpu_milli(job) : 0;
    };
    const double penalty = quotas_.limits()[l].penalty;
    for (const auto& [required, worth, job, position] : candidates(amount)) {
      if (ledger_.over(l) <= 0 || 1000.0 * worth >= penalty) break;
      if (required && std::isfinite(penalty)) break;
      drop(position);
    }
  }

  void trim_link(std::uint32_t l) {
    if (ledger_.excess(l) <= 0) return;
    const auto amount = [&](const JobPlacement& p) {
      std::int64_t mbps = 0;
      for (const model::LinkLoad& load : links_.load(p.job, p.tasks)) {
        if (load.link == l) mbps += load.mbps;
      }
      return mbps;
    };
    for (const auto& [required, worth, job, position] : candidates(amount)) {
      if (ledger_.excess(l) <= 0) break;
      drop(position);
    }
  }

  const model::Valuation& valuation_;
  const model::Workload& workload_;
  const model::Quotas& quotas_;
  const model::Links& links_;
  Ledger& ledger_;
  Placement placement_;
  std::vector<char> dropped_;  ///< by position in placement_
};

std::vector<JobId> absent(const model::Workload& workload, const Placement& placement) {
  std::vector<char> placed(workload.jobs.size(), 0);
  for (const JobPlacement& p : placement) placed[p.job.index()] = 1;
  std::vector<JobId> jobs;
  for (const JobId job : model::planned_jobs(workload)) {
    if (placed[job.index()] == 0) jobs.push_back(job);
  }
  return jobs;
}

}  // namespace

Ledger::Ledger(const model::Instance& instance, const model::Quotas& quotas,
               const model::Links& links)
    : instance_(&instance),
      quotas_(&quotas),
      links_(&links),
      milli_(quotas.limits().size(), 0),
      mbps_(links.size(), 0) {}

void Ledger::count(const JobPlacement& placed, int sign) {
  const model::Job& job = instance_->workload.job(placed.job);
  for (const std::uint32_t l : quotas_->of(job.queue)) {
    milli_[l] += sign * instance_->workload.gpu_milli(job);
  }
  if (links_->idle()) return;
  for (const model::LinkLoad& load : links_->load(placed.job, placed.tasks)) {
    mbps_[load.link] += sign * load.mbps;
  }
}

std::int64_t Ledger::over(std::uint32_t limit) const {
  return milli_[limit] - quotas_->limits()[limit].milli;
}

std::int64_t Ledger::excess(std::uint32_t link) const {
  return links_->mbps(link) == model::Links::kNoLimit ? 0 : mbps_[link] - links_->mbps(link);
}

bool Ledger::admits(JobId id, double value) const {
  const model::Job& job = instance_->workload.job(id);
  const std::int64_t milli = instance_->workload.gpu_milli(job);
  double lost = 0.0;
  for (const std::uint32_t l : quotas_->of(job.queue)) {
    const std::int64_t over = std::min(milli, milli_[l] + milli - quotas_->limits()[l].milli);
    if (over <= 0) continue;
    if (std::isinf(quotas_->limits()[l].penalty)) return false;
    lost += quotas_->limits()[l].penalty * static_cast<double>(over) / 1000.0;
  }
  return lost <= value || job.required;
}

bool Ledger::admits(const JobPlacement& placed, double value) const {
  if (!admits(placed.job, value)) return false;
  if (links_->idle()) return true;
  return std::ranges::all_of(links_->load(placed.job, placed.tasks), [&](const auto& load) {
    return links_->mbps(load.link) == model::Links::kNoLimit ||
           mbps_[load.link] + load.mbps <= links_->mbps(load.link);
  });
}

Placement obey_limits(const model::Valuation& valuation, const model::Pools& pools,
                      const model::Quotas& quotas, const model::Links& links, Placement placement,
                      const solver::ShardOptions& options) {
  if (quotas.empty() && links.idle()) return placement;
  const model::Instance& instance = valuation.instance();
  Ledger ledger(instance, quotas, links);
  Trimmer trimmer(valuation, quotas, links, ledger, std::move(placement));
  trimmer.trim();
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
  solver::Shard whole(ShardId{}, valuation, pools, std::move(machines), options);
  Placement kept = trimmer.kept();
  const std::vector<JobId> waiting = absent(instance.workload, kept);
  whole.restore({.placed = std::move(kept), .unplaced = waiting, .pushed_out = {}});
  whole.refill([&](JobId job, double value) { return ledger.admits(job, value); },
               [&](const JobPlacement& placed, double value) {
                 const bool admitted = ledger.admits(placed, value);
                 if (admitted) ledger.add(placed);
                 return admitted;
               });
  return whole.placement();
}

}  // namespace berth::coordinator
