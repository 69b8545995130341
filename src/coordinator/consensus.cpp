// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/consensus.hpp"

#include <cstdint>
#include <exception>
#include <utility>

namespace berth::coordinator {
namespace {

enum class Order : std::int64_t { stop, evaluate };

struct Command {
  Order order = Order::stop;
  double eps = 0.0;
};

/// This rank's share of every evaluation.
class BlockSums {
 public:
  BlockSums(const comm::Communicator& comm, const solver::Market& market)
      : comm_(comm), market_(market), sums_(market.sums_size()) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto rank = static_cast<std::size_t>(comm.rank());
    first_ = market.blocks() * rank / ranks;
    last_ = market.blocks() * (rank + 1) / ranks;
  }

  /// Collective: adds all ranks' blocks; complete on rank 0. A rank that fails goes on adding
  /// nothing, so that nobody waits for it.
  std::span<const std::int64_t> operator()(std::span<const double> prices, double eps) {
    sums_.assign(sums_.size(), 0);
    try {
      const comm::Communicator::Span span(comm_, "evaluate", comm_.rank());
      if (!failed_) market_.evaluate(prices, eps, first_, last_, sums_);
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
  const solver::Market& market_;
  std::vector<std::int64_t> sums_;
  std::size_t first_, last_;
};

/// Rank 0: tells the others what to do; says stop on every way out.
class Driver {
 public:
  explicit Driver(const comm::Communicator& comm) : comm_(comm) {}
  ~Driver() {
    try {
      send({Order::stop, 0.0});
    } catch (const comm::MpiError&) {  // the ranks are lost already; the first error is on its way
    }
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void evaluate(std::span<const double> prices, double eps) {
    send({Order::evaluate, eps});
    copy_.assign(prices.begin(), prices.end());
    comm_.broadcast(std::span(copy_), 0);
  }

 private:
  void send(Command command) { comm_.broadcast_value(command); }

  const comm::Communicator& comm_;
  std::vector<double> copy_;
};

void follow(const comm::Communicator& comm, const solver::Market& market, BlockSums& sums) {
  std::vector<double> prices(market.shape().capacity.size());
  while (true) {
    Command command;
    comm.broadcast_value(command);
    if (command.order == Order::stop) return;
    comm.broadcast(std::span(prices), 0);
    sums(prices, command.eps);
  }
}

solver::PriceResult drive(const comm::Communicator& comm, const solver::Market& market,
                          BlockSums& sums, const solver::PriceOptions& options) {
  Driver driver(comm);
  const auto dual = [&](std::span<const double> prices, double eps, std::span<double> gradient) {
    driver.evaluate(prices, eps);
    return market.finish(prices, eps, sums(prices, eps), gradient);
  };
  return solver::minimise_market(dual, market.shape(), {}, options);
}

}  // namespace

Consensus consensus(const comm::Communicator& comm, const model::Valuation& valuation,
                    const model::Pools& pools, const model::Quotas& quotas,
                    const solver::PriceOptions& options) {
  const model::Instance& instance = valuation.instance();
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const solver::Market market(valuation, pools, jobs, solver::full_supply(instance.cluster, pools),
                              &quotas);
  BlockSums sums(comm, market);
  solver::PriceResult result;
  comm.agreed([&] {  // a failing minimiser says stop first, so that all ranks come here
    if (comm.rank() == 0) {
      result = drive(comm, market, sums, options);
    } else {
      follow(comm, market, sums);
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
  return {.prices = {result.prices.begin(), pool_end},
          .quotas = {pool_end, result.prices.end()},
          .bound = tail.bound,
          .evaluations = static_cast<int>(tail.evaluations)};
}

}  // namespace berth::coordinator
