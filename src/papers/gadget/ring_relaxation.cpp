// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/gadget/ring_relaxation.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/solver/packing_covering.hpp"

namespace berth::papers::gadget {
namespace {

// Chosen, not tuned; of the largest gain.
constexpr double kReducedGain = 1e-5;
constexpr std::size_t kMostColumns = 20000;

using Entries = std::vector<solver::PackingCoveringProgram::Entry>;

/// The program over the rings known so far. Rows: jobs, servers, server links, rack links.
class RingProgram {
 public:
  RingProgram(const RingCluster& cluster, std::size_t jobs) : cluster_(&cluster), jobs_(jobs) {
    for (std::size_t j = 0; j < jobs; ++j) program_.add_packing_row(1.0);
    for (const std::int32_t gpus : cluster.gpus) program_.add_packing_row(gpus);
    for (const double link : cluster.server_link) program_.add_packing_row(link);
    for (const double link : cluster.rack_link) program_.add_packing_row(link);
  }

  void add(std::size_t job, const Ring& ring, double value, double bandwidth) {
    program_.add_column({.cost = -value, .covering = {}, .packing = entries(job, ring, bandwidth)});
  }

  const solver::PackingCoveringSolution& solve() {
    solution_ = solver::solve(program_);
    const auto at = [&](std::size_t from, std::size_t count) {
      const auto begin = solution_.packing_price.begin() + static_cast<std::ptrdiff_t>(from);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    const std::size_t servers = cluster_->servers();
    prices_ = {.gpu = at(jobs_, servers),
               .server_link = at(jobs_ + servers, servers),
               .rack_link = at(jobs_ + 2 * servers, cluster_->rack_link.size())};
    return solution_;
  }

  [[nodiscard]] const RingPrices& prices() const { return prices_; }
  /// Value less what the ring pays.
  [[nodiscard]] double reduced(std::size_t job, const Ring& ring, double value,
                               double bandwidth) const {
    for (const auto& [row, amount] : entries(job, ring, bandwidth))
      value -= amount * solution_.packing_price[row];
    return value;
  }

 private:
  [[nodiscard]] Entries entries(std::size_t job, const Ring& ring, double bandwidth) const {
    const std::size_t servers = cluster_->servers();
    Entries entries = {{job, 1.0}};
    std::set<std::size_t> racks;
    for (const ServerShare& share : ring) {
      entries.push_back({jobs_ + share.server, static_cast<double>(share.workers)});
      if (ring.size() < 2) continue;
      entries.push_back({jobs_ + servers + share.server, bandwidth});
      racks.insert(cluster_->rack[share.server]);
    }
    if (racks.size() < 2) return entries;
    for (const std::size_t rack : racks) entries.push_back({jobs_ + 2 * servers + rack, bandwidth});
    return entries;
  }

  const RingCluster* cluster_;
  std::size_t jobs_;
  solver::PackingCoveringProgram program_;
  solver::PackingCoveringSolution solution_;
  RingPrices prices_;
};

/// Sizes that a job may have.
std::pair<std::int32_t, std::int32_t> sizes_of(const SlotJob& job, std::size_t position,
                                               std::span<const std::int32_t> sizes) {
  if (sizes.empty()) return {1, job.most()};
  BERTH_EXPECT(sizes[position] <= job.most());
  return {std::max(sizes[position], 1), sizes[position]};
}

/// Largest gain of a job in the slot.
double largest_gain(std::span<const SlotJob> jobs) {
  double most = 0.0;
  for (const SlotJob& job : jobs) most = std::max(most, job.gain(job.most()));
  return most;
}

/// Prices before the first solution: short rings.
RingPrices first_prices(const RingCluster& cluster) {
  return {.gpu = std::vector<double>(cluster.servers(), 0.0),
          .server_link = std::vector<double>(cluster.servers(), 1.0),
          .rack_link = std::vector<double>(cluster.rack_link.size(), 1.0)};
}

/// Generates columns for one slot.
class RingPricing {
 public:
  RingPricing(const RingCluster& cluster, std::span<const SlotJob> jobs,
              std::span<const std::int32_t> sizes)
      : cluster_(&cluster),
        jobs_(jobs),
        sizes_(sizes),
        scale_(largest_gain(jobs)),
        prices_(first_prices(cluster)),
        program_(cluster, jobs.size()) {}

  [[nodiscard]] RingRelaxation run() {
    if (scale_ <= 0.0) return {};
    for (bool first = true; first || relaxation_.columns.size() < kMostColumns; first = false) {
      const std::size_t before = relaxation_.columns.size();
      double missing = 0.0;  // that rings of positive reduced gain could add to the value
      for (std::size_t j = 0; j < jobs_.size(); ++j) missing += price_job(j, first);
      if (!first) relaxation_.bound = scale_ * (missing - solved_bound_);
      if (relaxation_.columns.size() == before) break;
      const auto& solution = program_.solve();
      relaxation_.value = -scale_ * solution.cost;
      relaxation_.x = solution.x;
      solved_bound_ = solution.bound;
      prices_ = program_.prices();
    }
    relaxation_.columns.resize(relaxation_.x.size());
    return std::move(relaxation_);
  }

 private:
  /// Adds the job's rings that pay; returns the largest reduced gain.
  double price_job(std::size_t j, bool first) {
    const double bandwidth = jobs_[j].job->bandwidth;
    double most = 0.0;
    const auto [from, to] = sizes_of(jobs_[j], j, sizes_);
    for (std::int32_t k = from; k <= to; ++k) {
      const Ring ring = cheapest_ring(*cluster_, prices_, k, bandwidth);
      const double value = jobs_[j].gain(k) / scale_;
      if (ring.empty() || value <= 0.0) continue;
      const double reduced = first ? value : program_.reduced(j, ring, value, bandwidth);
      most = std::max(most, reduced);
      if (reduced <= kReducedGain && !first) continue;
      program_.add(j, ring, value, bandwidth);
      relaxation_.columns.push_back({j, ring, jobs_[j].gain(k)});
    }
    return most;
  }

  const RingCluster* cluster_;
  std::span<const SlotJob> jobs_;
  std::span<const std::int32_t> sizes_;
  double scale_;  ///< of gains: the largest one
  RingPrices prices_;
  RingProgram program_;
  RingRelaxation relaxation_;
  double solved_bound_ = 0.0;
};

}  // namespace

RingRelaxation relax_slot(const RingCluster& cluster, std::span<const SlotJob> jobs,
                          std::span<const std::int32_t> sizes) {
  return RingPricing(cluster, jobs, sizes).run();
}

}  // namespace berth::papers::gadget
