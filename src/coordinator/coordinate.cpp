// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/coordinate.hpp"

#include "bid_rounds.hpp"
#include "cost_meter.hpp"
#include "objective.hpp"

#include <iterator>

#include "berth/coordinator/cyclic_exchange.hpp"

namespace berth::coordinator {
namespace {

using solver::Shard;

/// Rounds of offers and bids, then regroup rounds.
class Coordination {
 public:
  Coordination(const comm::Communicator& comm, const Decomposition& decomposition,
               JobRecords& records, std::span<Shard> mine, const RoundSetting& setting)
      : comm_(comm),
        decomposition_(decomposition),
        records_(records),
        mine_(mine),
        options_(setting.options),
        context_(setting.context),
        state_(setting.start) {
    state_.shards = comm.sum(std::ssize(mine));
    if (context_.allocation != nullptr) context_.allocation->freeze(mine_);
    objective_ = objective();
  }

  CoordinationResult run() {
    if (state_.round == 0) {
      exchange_if_due();
      if (comm_.rank() == 0) context_.hooks.report({.round = 0, .objective = objective_});
      save_if_due();
    }
    if (state_.regroups == 0 && state_.shards > 1) run_bid_rounds();
    run_regroup_rounds();
    return {.objective = objective_, .rounds = state_.round, .spanning = state_.spanning};
  }

 private:
  /// Exchanges places over the whole cluster: local plans were made shard by shard, and most of
  /// what they lose is jobs in each other's places (decision 13).
  void exchange_if_due() {
    if (state_.shards == 1 || !continues(1)) return;
    exchange_cyclically(comm_, decomposition_, placement(), context_.run.stop);
    objective_ = objective();
  }

  void run_bid_rounds() {
    BidRounds rounds(comm_, decomposition_.valuation, records_, mine_,
                     {options_, context_, state_});
    update_prices(comm_, decomposition_.valuation, mine_);
    while (state_.round < options_.rounds && continues(2 * options_.schedulers)) {
      const CostMeter meter(comm_);
      RoundReport report = rounds.step(++state_.round);
      state_.refusals = rounds.refusals();
      state_.pending = rounds.pending();
      const bool due = state_.round > options_.depth;  // before that no bid is committed
      end_round(report, meter, due ? options_.least_gain : -1.0);
    }
  }

  void run_regroup_rounds() {
    if (state_.regroups == 0) state_.idle_rounds = 0;
    state_.pending.clear();  // their bids are not granted any more
    while (state_.regroups < options_.regroups && continues(2)) {
      const comm::Communicator::TraceSpan span(comm_, "regroup", ++state_.round);
      const CostMeter meter(comm_);
      const RegroupResult done = regroup(comm_, decomposition_, placement(),
                                         {++state_.regroups, context_.run.seed}, options_.groups);
      RoundReport report{.round = state_.round, .kind = model::RoundKind::regroup};
      report.offers = done.groups;
      report.commits = done.improved;
      end_round(report, meter, options_.least_regroup_gain);
    }
  }

  void end_round(RoundReport& report, const CostMeter& meter, double least_gain) {
    report.objective = objective();
    report.cost = meter.read();
    report.gain = report.objective - objective_;
    const bool idle = report.gain <= least_gain * report.objective;
    state_.idle_rounds = idle ? state_.idle_rounds + 1 : 0;
    objective_ = report.objective;
    if (comm_.rank() == 0) context_.hooks.report(report);
    save_if_due();
  }

  /// False when rank 0's certified gap is reached, too many rounds were idle, or a rank's stop is
  /// requested. Equal on all ranks. Collective.
  [[nodiscard]] bool continues(int most_idle) const {
    bool done = false;
    comm_.agreed([&] { done = context_.run.stop.requested(); });
    if (comm_.rank() == 0) {
      const bool proved = context_.hooks.gap(objective_) <= context_.run.gap;
      done = done || state_.idle_rounds >= most_idle || proved;
    }
    return comm_.max(done ? 1 : 0) == 0;
  }

  /// Saves the state if it is due and no stop has cut a search short: continuing from it gives the
  /// plan of an uninterrupted run.
  void save_if_due() const {
    if (context_.save_every == 0 || state_.round % context_.save_every != 0) return;
    if (comm_.max(context_.run.stop.has_cut() ? 1 : 0) == 1) return;
    context_.hooks.save(state_, mine_);
  }

  [[nodiscard]] DistributedPlacement placement() {
    return {.mine = mine_,
            .spanning = state_.spanning,
            .records = records_,
            .allocation = context_.allocation};
  }

  [[nodiscard]] double objective() const {
    const double total = objective_of(comm_, decomposition_.valuation, mine_, state_.spanning);
    return context_.allocation == nullptr ? total : total - context_.allocation->penalties();
  }

  const comm::Communicator& comm_;
  const Decomposition& decomposition_;
  JobRecords& records_;
  std::span<Shard> mine_;
  const RoundOptions& options_;
  const RoundContext& context_;
  RoundState state_;
  double objective_ = 0.0;
};

}  // namespace

CoordinationResult coordinate(const comm::Communicator& comm, const Decomposition& decomposition,
                              JobRecords& records, std::span<Shard> mine,
                              const RoundSetting& setting) {
  return Coordination(comm, decomposition, records, mine, setting).run();
}

}  // namespace berth::coordinator
