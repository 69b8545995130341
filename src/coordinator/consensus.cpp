// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/consensus.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

namespace berth::coordinator {
namespace {

constexpr double kStop = -1.0;  ///< sent in place of eps when the minimiser has ended
/// This rank's part of every evaluation.
class RankSums {
 public:
  RankSums(const comm::Communicator& comm, solver::Market& market)
      : comm_(comm), market_(market), sums_(market.sums_size()) {}

  /// Adds all ranks' sums; complete on rank 0. Collective. A rank that fails adds zeros from then
  /// on, so that no rank waits for it.
  std::span<const std::int64_t> operator()(std::span<const double> prices, double eps) {
    sums_.assign(sums_.size(), 0);
    try {
      const comm::Communicator::TraceSpan span(comm_, "evaluate", comm_.rank());
      if (!failed_) market_.evaluate(prices, eps, 0, market_.blocks(), sums_);
    } catch (...) {
      failed_ = std::current_exception();
    }
    comm_.sum_to_root(std::span(sums_), 0);
    return sums_;
  }

  void rethrow() const {
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  std::exception_ptr failed_;
  const comm::Communicator& comm_;
  solver::Market& market_;
  std::vector<std::int64_t> sums_;
};

/// Rank 0's broadcasts of requests for evaluations. The destructor sends kStop on every exit.
class RootBroadcast {
 public:
  RootBroadcast(const comm::Communicator& comm, std::size_t prices)
      : comm_(comm), message_(1 + prices) {}
  ~RootBroadcast() {
    try {
      message_[0] = kStop;
      comm_.broadcast(std::span(message_), 0);
    } catch (const comm::MpiError&) {  // the ranks are lost; the first error is being reported
    }
  }
  RootBroadcast(const RootBroadcast&) = delete;
  RootBroadcast& operator=(const RootBroadcast&) = delete;

  void evaluate(std::span<const double> prices, double eps) {
    message_[0] = eps;
    std::ranges::copy(prices, message_.begin() + 1);
    comm_.broadcast(std::span(message_), 0);
  }

 private:
  const comm::Communicator& comm_;
  std::vector<double> message_;  ///< eps, prices
};

void serve_evaluations(const comm::Communicator& comm, const solver::Market& market,
                       RankSums& sums) {
  std::vector<double> message(1 + market.shape().capacity.size());
  while (true) {
    comm.broadcast(std::span(message), 0);
    if (message[0] == kStop) return;
    sums(std::span(message).subspan(1), message[0]);
  }
}

solver::PriceResult minimise_on_root(const comm::Communicator& comm, const solver::Market& market,
                                     RankSums& sums, const solver::PriceOptions& options,
                                     const StopToken& stop) {
  RootBroadcast broadcast(comm, market.shape().capacity.size());
  const auto dual = [&](std::span<const double> prices, double eps, std::span<double> gradient) {
    broadcast.evaluate(prices, eps);
    return market.finish(prices, sums(prices, eps), gradient);
  };
  return solver::minimise_market(dual, market.shape(), {}, options, stop);
}

/// This rank's part of the market, with the scale of the whole market. Collective.
solver::Market rank_market(const comm::Communicator& comm,
                           const planner_model::Valuation& valuation,
                           const planner_model::Pools& pools,
                           const planner_model::LimitGroups& limits,
                           std::span<const std::int64_t> kept_free) {
  solver::Supply supply = solver::full_supply(valuation.instance().cluster, pools);
  for (std::size_t p = 0; p < kept_free.size(); ++p) {
    supply.milli[p] = std::max<std::int64_t>(0, supply.milli[p] - kept_free[p]);
  }
  auto market = comm.agreed([&] {
    auto by_rank = jobs_by_evaluator(valuation, static_cast<std::size_t>(comm.size()));
    return solver::Market(valuation, pools, by_rank[static_cast<std::size_t>(comm.rank())], supply,
                          &limits);
  });
  solver::MarketScale scale;
  for (const solver::MarketScale& own : comm.all_gather(market.scale())) scale = scale.with(own);
  market.set_scale(scale);
  return market;
}

}  // namespace

JobLists jobs_by_evaluator(const planner_model::Valuation& valuation, std::size_t ranks) {
  std::vector<JobId> all = model::planned_jobs(valuation.instance().workload);
  if (ranks == 1) return {std::move(all)};
  JobLists lists(ranks);
  for (const JobId job : all) {
    lists[solver::job_kind(valuation, job) % ranks].push_back(job);
  }
  return lists;
}

Consensus consensus(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                    const MarketSupply& supply, const solver::PriceOptions& options,
                    const StopToken& stop) {
  const auto& [pools, limits, kept_free] = supply;
  solver::Market market = rank_market(comm, valuation, pools, limits, kept_free);
  RankSums sums(comm, market);
  solver::PriceResult result;
  comm.agreed([&] {  // a failing minimiser sends kStop first, so that all ranks get here
    if (comm.rank() == 0) {
      result = minimise_on_root(comm, market, sums, options, stop);
    } else {
      serve_evaluations(comm, market, sums);
    }
    sums.rethrow();
  });
  comm.broadcast_vector(result.prices, 0);
  struct {
    double bound;
    std::int64_t evaluations;
  } tail{result.bound, result.evaluations};
  comm.broadcast_value(tail);
  const auto pool_end = result.prices.begin() + static_cast<std::ptrdiff_t>(pools.size());
  std::vector<double> of_limits(pool_end, result.prices.end());
  for (std::size_t g = 0; g < limits.size(); ++g) {
    of_limits[limits.limits().of_queues() + g] /= limits.groups()[g].unit;
  }
  return {.prices = {result.prices.begin(), pool_end},
          .limits = std::move(of_limits),
          .bound = tail.bound,
          .evaluations = static_cast<int>(tail.evaluations)};
}

}  // namespace berth::coordinator
