// SPDX-License-Identifier: Apache-2.0
#include "pending_rounds.hpp"

#include <algorithm>

namespace berth::coordinator {

std::uint32_t PendingRounds::version(JobId job) const {
  return versions_.of({strads::ItemKind::job, job.value()});
}

bool PendingRounds::has(JobId job) const {
  return std::ranges::any_of(rounds_.pending(), [&](const PushedRound& pushed) {
    return pushed.claims.versions.contains(job);
  });
}

std::vector<JobId> PendingRounds::jobs() const {
  std::vector<JobId> jobs;
  for (const PushedRound& pushed : rounds_.pending()) {
    for (const solver::JobOffer& offer : pushed.offers) jobs.push_back(offer.job);
  }
  return jobs;
}

std::vector<PendingRound> PendingRounds::list() const {
  std::vector<PendingRound> all;
  for (const PushedRound& pushed : rounds_.pending()) {
    PendingRound& pending_round = all.emplace_back(PendingRound{pushed.offers, pushed.bids});
    std::erase_if(pending_round.bids, [&](const solver::Bid& bid) {
      return pushed.claims.versions.at(bid.job) != version(bid.job);
    });
  }
  return all;
}

void PendingRounds::invalidate_placed(const comm::Communicator& comm,
                                      std::span<const solver::Shard> mine) {
  if (depth_ == 0) return;
  std::vector<JobId> gone;
  for (const PushedRound& pushed : rounds_.pending()) {
    for (const solver::JobOffer& offer : pushed.offers) {
      for (const solver::Shard& shard : mine) {
        if (shard.id() == offer.source && !shard.is_waiting(offer.job)) gone.push_back(offer.job);
      }
    }
  }
  for (const JobId job : comm.all_gather_varying<JobId>(gone)) {
    versions_.change({strads::ItemKind::job, job.value()});
  }
}

}  // namespace berth::coordinator
