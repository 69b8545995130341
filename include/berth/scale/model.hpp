// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/scale/point.hpp"

namespace berth::scale {

/// A network with the parameters of LogGP (Alexandrov et al., SPAA 1995), all in microseconds. The
/// defaults describe a common 100 Gbit/s fabric; they are assumed, not measured.
struct Network {
  double latency = 1.5;        ///< L: of a short message
  double overhead = 0.5;       ///< o: of the processor, at either end
  double gap = 0.3;            ///< g: between two messages of one rank
  double gap_per_byte = 1e-4;  ///< G: 1 / bandwidth; 1e-4 us/B = 10 GB/s
  /// delay until a rank notices that a collective is complete, because ranks do not spin
  double polling = 10.0;
};

/// Microseconds of one collective in which `bytes` of payload are in play (broadcast, reduce,
/// all_reduce: of one rank; gather, all_gather: of all ranks; all_to_all: given by one rank).
///
/// Trees and recursive doubling take ceil(log2 ranks) steps of L + 2o; broadcasts and reductions
/// move the payload in every step, gathers all of it once; all_to_all is pairwise.
double collective_time(comm::Call call, int ranks, double bytes, const Network& network);

enum class Scaling : std::uint8_t {
  strong,  ///< one instance on every number of ranks
  weak,    ///< an instance that grows with the ranks
};

struct StageForecast {
  std::string stage;
  double work = 0.0;           ///< seconds of the slowest rank
  double communication = 0.0;  ///< seconds in collectives
};

/// Modelled times of a run on this many ranks, each with a core for every thread.
struct ScalingForecast {
  int ranks = 1;
  std::vector<StageForecast> stages{};
  std::vector<CallCount> calls{};
  double seconds = 0.0;  ///< all stages but load, as a plan's "solve"
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// Owner of each shard on a given number of ranks.
using Owners = std::vector<int>;

/// Collectives on `ranks` ranks, extrapolated from measurements on two or more ranks.
///
/// Strong: each rank starts equally many collectives on any number of ranks; bytes of all ranks
/// together follow the polynomial through the three smallest numbers measured. This is exact except
/// for gathers to a root and exchanges, where a rank's part for itself does not count. Weak: the
/// collectives of the largest number measured, bytes in proportion to the ranks.
std::vector<CallCount> forecast_calls(std::span<const ScalingPoint> measured, Scaling scaling,
                                      int ranks);

/// Work is taken from the smallest number of ranks measured (strong) or the largest (weak).
///
/// Strong: evaluations of the prices are divided by the ranks in blocks of 256 jobs; local plans
/// take the measured times of the shards under `owners`; rounds are divided by shards; all other
/// work is constant. Weak: evaluations and local plans are constant per rank; all other work,
/// including the rounds (each shard bids on the offers of all), grows with the ranks.
///
/// @param owners  of the shards on `ranks` ranks; strong only, else empty
ScalingForecast forecast(std::span<const ScalingPoint> measured, Scaling scaling, int ranks,
                         const Owners& owners, const Network& network);

}  // namespace berth::scale
