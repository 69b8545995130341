// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/coordinate.hpp"

#include "cost_meter.hpp"
#include "destinations.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/coordinator/grant.hpp"
#include "berth/coordinator/trade.hpp"
#include "berth/coordinator/wire.hpp"
#include "berth/strads/commit.hpp"
#include "berth/strads/pipeline.hpp"

namespace berth::coordinator {
namespace {

using solver::Bid;
using solver::Offer;
using solver::Shard;

/// What became of a grant.
struct Outcome {
  JobId job;
  ShardId shard;
  double gain = 0.0;       ///< 0 = refused
  std::int64_t later = 0;  ///< 1 = the shard had committed another job first
};

struct ShardValue {
  ShardId shard;
  double value = 0.0;
};

class Rounds {
 public:
  Rounds(const comm::Communicator& comm, const model::Valuation& valuation, const JobStore& jobs,
         std::span<Shard> mine, const RoundOptions& options, const RoundState& start)
      : comm_(comm),
        valuation_(valuation),
        jobs_(jobs),
        mine_(mine),
        options_(options),
        spanning_(start.spanning) {
    for (const Refusal& r : start.refusals) refused_[{r.job, r.shard}] = r.round;
    share_room();
    for (const Flight& flight : start.flights) {
      in_flight_.exchange({flight.offers, flight.bids, claims_of(flight.offers)});
    }
  }

  /// One round; all ranks return the same report, without its objective and cost.
  RoundReport step(int round) {
    const comm::Communicator::Span span(comm_, "round", round);
    forget_old_tabu(round);
    RoundReport report{.round = round};
    std::vector<Offer> offers = schedule(round);
    show(offers);
    Pushed pushed = push(std::move(offers), round);
    report.offers = std::ssize(pushed.offers);
    report.bids = std::ssize(pushed.bids);
    for (const Offer& offer : pushed.offers) report.importance += offer.regret;
    std::vector<Outcome> outcomes;
    if (const auto due = in_flight_.exchange(std::move(pushed))) {
      Claims claims = due->claims;
      if (options_.sharing != nullptr) claims.left = options_.sharing->left();
      const auto grants = grant(due->bids, tabu(), claims, versions_);
      report.grants = std::ssize(grants);
      outcomes = pull(grants);
      confirm(due->offers, outcomes, round);
    }
    if (options_.sharing != nullptr) options_.sharing->deal(mine_);
    comm_.agreed([&] {
      for (Shard& shard : mine_) {
        if (options_.sharing != nullptr) shard.refill();
        shard.improve();
      }
    });
    if (options_.sharing != nullptr) options_.sharing->hold(mine_);
    update_prices();
    withdraw();
    jobs_.keep(mine_, spanning_, flying());
    for (const Outcome& outcome : outcomes) {
      ++(outcome.gain > 0.0   ? report.commits
         : outcome.later != 0 ? report.conflicts
                              : report.refusals);
    }
    return report;
  }

  [[nodiscard]] std::vector<Refusal> refusals() const {
    std::vector<Refusal> all;
    for (const auto& [pair, round] : refused_) all.push_back({pair.first, pair.second, round});
    return all;
  }

  [[nodiscard]] std::vector<Flight> flights() const {
    std::vector<Flight> all;
    for (const Pushed& pushed : in_flight_.in_flight()) {
      Flight& flight = all.emplace_back(Flight{pushed.offers, pushed.bids});
      std::erase_if(flight.bids, [&](const Bid& bid) {
        const auto now = versions_.of({strads::Thing::job, bid.job.value()});
        return pushed.claims.seen.at(bid.job) != now;
      });
    }
    return all;
  }

  /// A GPU of a type costs what it costs where it is cheapest.
  void update_prices() {
    const std::size_t types = valuation_.instance().cluster.gpu_types.size();
    std::vector<double> price(types, std::numeric_limits<double>::infinity());
    const auto lower = [&](std::span<const double> other) {
      for (std::size_t t = 0; t < types; ++t) price[t] = std::min(price[t], other[t]);
    };
    for (const Shard& shard : mine_) lower(shard.marginal_prices());
    const std::vector<double> all = comm_.all_gather_varying<double>(price);
    for (std::size_t at = 0; at + types <= all.size() && types > 0; at += types) {
      lower(std::span(all).subspan(at, types));
    }
    for (Shard& shard : mine_) shard.update_prices(price);
  }

 private:
  /// What left for the destinations in one round.
  struct Pushed {
    std::vector<Offer> offers;
    std::vector<Bid> bids;
    Claims claims;
  };

  /// GPUs that each shard may be asked for in a round.
  void share_room() {
    std::vector<ShardValue> rooms;
    for (const Shard& shard : mine_) rooms.push_back({shard.id(), options_.claim * shard.gpus()});
    for (const ShardValue& r : comm_.all_gather_varying<ShardValue>(rooms))
      room_[r.shard] = r.value;
  }

  /// The best of each shard whose turn it is, then the best of all; the same on all ranks.
  [[nodiscard]] std::vector<Offer> schedule(int round) const {
    std::vector<Offer> offers;
    for (const Shard& shard : mine_) {
      if (!strads::has_turn(shard.id().value(), round, options_.schedulers)) continue;
      const auto more = choose(shard.offers(), options_.offers, round);
      offers.insert(offers.end(), more.begin(), more.end());
    }
    return choose(comm_.all_gather_varying<Offer>(offers), options_.blocks, round);
  }

  [[nodiscard]] std::vector<Offer> choose(std::span<const Offer> offers, int most,
                                          int round) const {
    std::vector<Offer> free;
    std::vector<strads::Block> blocks;
    for (const Offer& offer : offers) {
      if (flies(offer.job)) continue;
      free.push_back(offer);
      blocks.push_back({offer.job.value(), offer.regret});
    }
    std::vector<Offer> chosen;
    const auto count = static_cast<std::size_t>(most);
    for (const std::size_t i : strads::schedule(blocks, count, round, options_.choice)) {
      chosen.push_back(free[i]);
    }
    return chosen;
  }

  /// All ranks are to know the jobs on the table.
  void show(std::span<const Offer> offers) const {
    if (!jobs_.in_parts()) return;
    std::vector<JobId> own;
    for (const Offer& offer : offers) {
      const auto here = [&](const Shard& shard) { return shard.id() == offer.source; };
      if (std::ranges::any_of(mine_, here)) own.push_back(offer.job);
    }
    jobs_.show(own);
  }

  [[nodiscard]] std::vector<JobId> flying() const {
    std::vector<JobId> jobs;
    for (const Pushed& pushed : in_flight_.in_flight()) {
      for (const Offer& offer : pushed.offers) jobs.push_back(offer.job);
    }
    return jobs;
  }

  /// Some earlier offer of the job has not been answered yet.
  [[nodiscard]] bool flies(JobId job) const {
    return std::ranges::any_of(in_flight_.in_flight(), [&](const Pushed& pushed) {
      return pushed.claims.seen.contains(job);
    });
  }

  /// The shards drawn to bid on each offer; nothing when all may. The same on all ranks.
  [[nodiscard]] std::optional<std::set<Ask>> ask(std::span<const Offer> offers, int round) const {
    const auto most = static_cast<std::size_t>(options_.asked);
    if (room_.size() <= most + 1) return std::nullopt;
    std::vector<solver::Quote> quotes;
    std::set<ShardId> here;
    for (const Shard& shard : mine_) {
      const auto more = shard.quotes();
      quotes.insert(quotes.end(), more.begin(), more.end());
      here.insert(shard.id());
    }
    const Destinations destinations(valuation_, comm_.all_gather_varying<solver::Quote>(quotes));
    const Tabu refused = tabu();
    std::vector<Ask> asks;
    for (const Offer& offer : offers) {
      if (!here.contains(offer.source)) continue;
      const auto more = destinations.of(offer, refused, most, round, options_.choice.seed);
      asks.insert(asks.end(), more.begin(), more.end());
    }
    asks = comm_.all_gather_varying<Ask>(asks);
    return std::set<Ask>(asks.begin(), asks.end());
  }

  [[nodiscard]] Claims claims_of(std::span<const Offer> offers) const {
    Claims claims{.room = room_, .gpus = {}};
    const model::Workload& workload = valuation_.instance().workload;
    for (const Offer& offer : offers) {
      const auto milli = workload.gpu_milli(workload.job(offer.job));
      claims.gpus[offer.job] = static_cast<double>(milli) / 1000.0;
      claims.seen[offer.job] = versions_.of({strads::Thing::job, offer.job.value()});
      if (options_.sharing == nullptr) continue;
      const auto quotas = options_.sharing->quotas_of(offer.job);
      if (!quotas.empty()) claims.quotas[offer.job] = {quotas.begin(), quotas.end()};
    }
    return claims;
  }

  [[nodiscard]] Pushed push(std::vector<Offer> offers, int round) const {
    Pushed pushed{.offers = std::move(offers), .bids = {}, .claims = {}};
    pushed.claims = claims_of(pushed.offers);
    const auto asked = ask(pushed.offers, round);
    const auto left =
        options_.sharing == nullptr ? std::vector<std::int64_t>{} : options_.sharing->left();
    comm_.agreed([&] {
      for (const Shard& shard : mine_) {
        std::vector<JobId> jobs;
        for (const Offer& offer : pushed.offers) {
          const bool may = offer.source == shard.id()
                               ? pushed.claims.quotas.contains(offer.job)
                               : !asked || asked->contains({offer.job, shard.id()});
          if (may) jobs.push_back(offer.job);
        }
        const auto more = shard.bids(jobs, left);
        pushed.bids.insert(pushed.bids.end(), more.begin(), more.end());
      }
    });
    pushed.bids = comm_.all_gather_varying<Bid>(pushed.bids);
    return pushed;
  }

  /// Jobs on their way that their own shard has placed meanwhile: their bids are void.
  void withdraw() {
    if (options_.depth == 0) return;
    std::vector<JobId> gone;
    for (const Pushed& pushed : in_flight_.in_flight()) {
      for (const Offer& offer : pushed.offers) {
        for (const Shard& shard : mine_) {
          if (shard.id() == offer.source && !shard.waits(offer.job)) gone.push_back(offer.job);
        }
      }
    }
    for (const JobId job : comm_.all_gather_varying<JobId>(gone)) {
      versions_.change({strads::Thing::job, job.value()});
    }
  }

  [[nodiscard]] std::vector<Outcome> pull(std::span<const Bid> grants) {
    std::vector<Outcome> outcomes;
    comm_.agreed([&] {
      for (Shard& shard : mine_) {
        std::int64_t later = 0;
        for (const Bid& bid : grants) {
          if (bid.shard != shard.id()) continue;
          const double gain =
              shard.realise(bid.job, strads::least_gain(bid.gain, options_.theta), bid.drawn);
          outcomes.push_back({bid.job, bid.shard, gain, later});
          if (gain > 0.0) later = 1;
        }
      }
    });
    return comm_.all_gather_varying<Outcome>(outcomes);
  }

  void confirm(std::span<const Offer> offers, std::span<const Outcome> outcomes, int round) {
    std::map<JobId, ShardId> source;
    for (const Offer& offer : offers) source.emplace(offer.job, offer.source);
    for (const Outcome& outcome : outcomes) {
      if (outcome.gain <= 0.0) {
        refused_[{outcome.job, outcome.shard}] = round;
        continue;
      }
      for (Shard& shard : mine_) {
        // A shard may bid for its own job, when all quotas together let it in.
        const bool own = source.at(outcome.job) == outcome.shard;
        if (!own && shard.id() == source.at(outcome.job)) shard.let_go(outcome.job);
      }
    }
  }

  void forget_old_tabu(int round) {
    std::erase_if(refused_,
                  [&](const auto& entry) { return round - entry.second > options_.tabu_rounds; });
  }

  [[nodiscard]] Tabu tabu() const {
    Tabu pairs;
    for (const auto& [pair, round] : refused_) pairs.insert(pair);
    return pairs;
  }

  const comm::Communicator& comm_;
  const model::Valuation& valuation_;
  const JobStore& jobs_;
  std::span<Shard> mine_;
  RoundOptions options_;
  const model::Placement& spanning_;  ///< offers do not change it
  std::map<ShardId, double> room_;
  std::map<std::pair<JobId, ShardId>, int> refused_;
  strads::Versions versions_;  ///< of the jobs; the machines' are their owner's business
  strads::Pipeline<Pushed> in_flight_{static_cast<std::size_t>(options_.depth)};
};

/// The placement comes to rank 0 in so many parts, so that it does not lie there twice.
constexpr std::size_t kSlices = 16;

/// Of the jobs over several shards; all stop costs are owed until the jobs are placed.
double value_of(const model::Valuation& valuation, const model::Placement& placement) {
  double total = -valuation.stop_costs();
  for (const model::JobPlacement& p : placement) total += valuation.face(p);
  return total;
}

/// Sum of the shards' values in shard order, and of what lies over several: the same on every
/// number of ranks.
double objective_of(const comm::Communicator& comm, const model::Valuation& valuation,
                    std::span<const Shard> mine, const model::Placement& spanning) {
  std::vector<ShardValue> values;
  for (const Shard& shard : mine) values.push_back({shard.id(), shard.value()});
  values = comm.all_gather_varying<ShardValue>(values);
  std::ranges::sort(values, {}, &ShardValue::shard);
  double total = value_of(valuation, spanning);
  for (const ShardValue& v : values) total += v.value;
  return total;
}

/// Both kinds of rounds, one kind after the other.
class Coordination {
 public:
  Coordination(const comm::Communicator& comm, const model::Valuation& valuation,
               const Terrain& terrain, std::span<Shard> mine, const RoundOptions& options,
               const Hooks& hooks, const RoundState& start)
      : comm_(comm),
        valuation_(valuation),
        terrain_(terrain),
        mine_(mine),
        options_(options),
        hooks_(hooks),
        state_(start) {
    state_.shards = comm.sum(std::ssize(mine));
    if (options_.sharing != nullptr) options_.sharing->hold(mine_);
    objective_ = objective();
  }

  Coordinated run() {
    if (state_.round == 0) {
      trade_if_due();
      if (comm_.rank() == 0) hooks_.report({.round = 0, .objective = objective_});
      save_if_due();
    }
    if (state_.regroups == 0 && state_.shards > 1) offer();
    deal_anew();
    return {.objective = objective_, .rounds = state_.round, .spanning = state_.spanning};
  }

 private:
  /// The shards' plans were made one by one: most of what they miss is jobs in each other's places.
  void trade_if_due() {
    if (state_.shards == 1 || !goes_on(1)) return;
    trade(comm_, valuation_, terrain_, mine_, state_.spanning, options_.stop, options_.sharing);
    objective_ = objective();
  }

  void offer() {
    Rounds rounds(comm_, valuation_, terrain_.jobs, mine_, options_, state_);
    rounds.update_prices();
    while (state_.round < options_.rounds && goes_on(2 * options_.schedulers)) {
      const CostMeter meter(comm_);
      RoundReport report = rounds.step(++state_.round);
      state_.refusals = rounds.refusals();
      state_.flights = rounds.flights();
      const bool due = state_.round > options_.depth;  // before that nothing is committed
      end_round(report, meter, due ? options_.least_gain : -1.0);
    }
  }

  void deal_anew() {
    if (state_.regroups == 0) state_.idle_rounds = 0;
    state_.flights.clear();  // nobody answers them any more
    while (state_.regroups < options_.regroups && goes_on(2)) {
      const comm::Communicator::Span span(comm_, "regroup", ++state_.round);
      const CostMeter meter(comm_);
      const Regrouped done =
          regroup(comm_, valuation_, terrain_, mine_, state_.spanning, ++state_.regroups,
                  options_.choice.seed, options_.groups, options_.sharing);
      RoundReport report{.round = state_.round, .kind = model::RoundKind::regroup};
      report.offers = done.groups;
      report.commits = done.better;
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
    if (comm_.rank() == 0) hooks_.report(report);
    save_if_due();
  }

  /// Rank 0 has the certificate, any rank may be out of time: all hear the same answer.
  [[nodiscard]] bool goes_on(int most_idle) const {
    bool done = false;
    comm_.agreed([&] { done = options_.stop.requested(); });
    if (comm_.rank() == 0) {
      done = done || state_.idle_rounds >= most_idle || hooks_.gap(objective_) <= options_.gap;
    }
    return comm_.max(done ? 1 : 0) == 0;
  }

  /// Only what nothing was cut out of: going on from there gives the plan of a run without limits.
  void save_if_due() const {
    if (options_.save_every == 0 || state_.round % options_.save_every != 0) return;
    if (comm_.max(options_.stop.has_cut() ? 1 : 0) == 1) return;
    const std::vector<std::int64_t> contents = gather_contents(comm_, mine_);
    comm_.agreed([&] {
      if (comm_.rank() == 0) hooks_.save(state_, contents);
    });
  }

  [[nodiscard]] double objective() const {
    const double total = objective_of(comm_, valuation_, mine_, state_.spanning);
    return options_.sharing == nullptr ? total : total - options_.sharing->lost();
  }

  const comm::Communicator& comm_;
  const model::Valuation& valuation_;
  const Terrain& terrain_;
  std::span<Shard> mine_;
  const RoundOptions& options_;
  const Hooks& hooks_;
  RoundState state_;
  double objective_ = 0.0;
};

}  // namespace

Coordinated coordinate(const comm::Communicator& comm, const model::Valuation& valuation,
                       const Terrain& terrain, std::span<Shard> mine, const RoundOptions& options,
                       const Hooks& hooks, const RoundState& start) {
  return Coordination(comm, valuation, terrain, mine, options, hooks, start).run();
}

model::Placement gather_placement(const comm::Communicator& comm, std::span<const Shard> mine,
                                  const model::Placement& spanning) {
  model::Placement all;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    std::vector<std::int64_t> stream;
    for (const Shard& shard : mine) {
      if (shard.id().index() % kSlices != slice) continue;
      const auto more = to_wire(shard.placement());
      stream.insert(stream.end(), more.begin(), more.end());
    }
    stream = comm.gather_varying<std::int64_t>(stream, 0);
    std::ranges::move(from_wire(stream), std::back_inserter(all));
  }
  if (comm.rank() != 0) return {};
  all.insert(all.end(), spanning.begin(), spanning.end());
  std::ranges::sort(all, {}, &model::JobPlacement::job);
  return all;
}

}  // namespace berth::coordinator
