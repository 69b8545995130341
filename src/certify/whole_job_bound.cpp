// SPDX-License-Identifier: Apache-2.0
#include "whole_job_bound.hpp"

#include "exact.hpp"
#include "profitable_jobs.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using Profile = std::vector<Int128>;  ///< by GPUs: largest value in at most that many

/// The numbers of GPUs where a profile rises, and 0.
std::vector<std::size_t> rises(const Profile& profile) {
  std::vector<std::size_t> at{0};
  for (std::size_t g = 1; g < profile.size(); ++g) {
    if (profile[g] > profile[g - 1]) at.push_back(g);
  }
  return at;
}

/// Combines two disjoint parts: each GPU belongs to one of them. Profiles never fall, so numbers of
/// GPUs where both rise suffice: few where all jobs are large. O(rises of both parts + GPUs).
Profile side_by_side(const Profile& a, const Profile& b) {
  Profile sum(a.size() + b.size() - 1, -kImpossible);
  const std::vector<std::size_t> of_a = rises(a), of_b = rises(b);
  for (const std::size_t h : of_b) {
    for (const std::size_t g : of_a) sum[g + h] = std::max(sum[g + h], a[g] + b[h]);
  }
  for (std::size_t g = 1; g < sum.size(); ++g) sum[g] = std::max(sum[g], sum[g - 1]);
  return sum;
}

/// Adds jobs, each of which may be chosen at most once.
void put_in(Profile& best, std::span<const ProfitableJob> jobs) {
  for (const ProfitableJob& job : jobs) {
    const auto size = static_cast<std::size_t>(job.gpus);
    for (std::size_t g = best.size(); g-- > size;) {
      best[g] = std::max(best[g], best[g - size] + job.profit);
    }
  }
}

/// Profile of one rack's devices without the jobs that have a price.
Profile of_machines(std::span<const PricedPool> pools, GpuTypeId type,
                    const MachineProfitBound& worth) {
  std::size_t gpus = 0;
  Int128 all = 0;
  for (const PricedPool& s : pools) {
    if (s.type != type) continue;
    const Profile one = worth.by_devices(s);
    gpus += (one.size() - 1) * static_cast<std::size_t>(s.machines);
    all += one.back();
  }
  if (all == 0) return Profile(gpus + 1, 0);
  Profile rack{0};
  for (const PricedPool& s : pools) {
    if (s.type != type) continue;
    const Profile one = worth.by_devices(s);
    for (std::int64_t m = 0; m < s.machines; ++m) rack = side_by_side(rack, one);
  }
  return rack;
}

/// Profiles of one GPU type in one pod.
class PodJobs {
 public:
  PodJobs(const ProfitableJobs& profitable, PodId pod, std::vector<Profile> racks)
      : wide_(profitable.over_racks(pod, gpus_of(racks))), racks_(std::move(racks)) {}

  /// The pod's profile, by GPUs.
  [[nodiscard]] Profile profile() const {
    Profile pod{0};
    for (const Profile& rack : racks_) pod = side_by_side(pod, rack);
    put_in(pod, wide_);
    return pod;
  }
  [[nodiscard]] Int128 most() const {
    if (!wide_.empty()) return profile().back();
    Int128 total = 0;
    for (const Profile& rack : racks_) total += rack.back();
    return total;
  }

 private:
  static std::int64_t gpus_of(std::span<const Profile> racks) {
    std::size_t gpus = 0;
    for (const Profile& rack : racks) gpus += rack.size() - 1;
    return static_cast<std::int64_t>(gpus);
  }

  std::vector<ProfitableJob> wide_;
  std::vector<Profile> racks_;
};

Int128 of_type(const Pricing& pricing, const ProfitableJobs& profitable,
               const MachineProfitBound& worth) {
  const model::Cluster& cluster = pricing.instance.cluster;
  const auto& racks = cluster.racks;
  std::vector<Profile> filled(racks.size());
  parallel::run_tasks(racks.size(), [&](std::size_t r) {
    filled[r] = of_machines(pricing.price_table.in_rack(RackId(r)), profitable.type(), worth);
    if (filled[r].size() == 1) return;
    put_in(filled[r],
           profitable.in_rack(RackId(r), static_cast<std::int64_t>(filled[r].size()) - 1));
  });
  std::vector<PodJobs> pods;
  std::size_t r = 0;
  std::int64_t gpus = 0;
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
    std::vector<Profile> of_pod;
    for (; r < racks.size() && racks[r].pod == PodId(p); ++r) {
      gpus += static_cast<std::int64_t>(filled[r].size()) - 1;
      of_pod.push_back(std::move(filled[r]));
    }
    pods.emplace_back(profitable, PodId(p), std::move(of_pod));
  }
  const std::vector<ProfitableJob> widest = profitable.over_pods(gpus);
  Int128 total = 0;
  if (widest.empty()) {
    for (const PodJobs& pod : pods) total += pod.most();
    return total;
  }
  Profile all{0};
  for (const PodJobs& pod : pods) all = side_by_side(all, pod.profile());
  put_in(all, widest);
  return all.back();
}

}  // namespace

std::vector<Int128> whole_job_bounds(const Pricing& pricing, const SpotIndex& spots,
                                     const Leaf& leaf, const MachineProfitBound& worth) {
  std::vector<Int128> most;
  for (std::size_t t = 0; t < pricing.instance.cluster.gpu_types.size(); ++t) {
    const ProfitableJobs profitable(pricing, spots, leaf, GpuTypeId(t));
    most.push_back(of_type(pricing, profitable, worth));
  }
  return most;
}

}  // namespace berth::certify
