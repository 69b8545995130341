// SPDX-License-Identifier: Apache-2.0
#include "in_flight.hpp"

#include <algorithm>

namespace berth::coordinator {

std::uint32_t InFlight::version(JobId job) const {
  return versions_.of({strads::Thing::job, job.value()});
}

bool InFlight::has(JobId job) const {
  return std::ranges::any_of(
      rounds_.in_flight(), [&](const Pushed& pushed) { return pushed.claims.seen.contains(job); });
}

std::vector<JobId> InFlight::jobs() const {
  std::vector<JobId> jobs;
  for (const Pushed& pushed : rounds_.in_flight()) {
    for (const solver::JobOffer& offer : pushed.offers) jobs.push_back(offer.job);
  }
  return jobs;
}

std::vector<Flight> InFlight::flights() const {
  std::vector<Flight> all;
  for (const Pushed& pushed : rounds_.in_flight()) {
    Flight& flight = all.emplace_back(Flight{pushed.offers, pushed.bids});
    std::erase_if(flight.bids, [&](const solver::Bid& bid) {
      return pushed.claims.seen.at(bid.job) != version(bid.job);
    });
  }
  return all;
}

void InFlight::withdraw(const comm::Communicator& comm, std::span<const solver::Shard> mine) {
  if (depth_ == 0) return;
  std::vector<JobId> gone;
  for (const Pushed& pushed : rounds_.in_flight()) {
    for (const solver::JobOffer& offer : pushed.offers) {
      for (const solver::Shard& shard : mine) {
        if (shard.id() == offer.source && !shard.is_waiting(offer.job)) gone.push_back(offer.job);
      }
    }
  }
  for (const JobId job : comm.all_gather_varying<JobId>(gone)) {
    versions_.change({strads::Thing::job, job.value()});
  }
}

}  // namespace berth::coordinator
