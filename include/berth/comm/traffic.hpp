// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::comm {

/// Kinds of collectives that a cost model distinguishes.
enum class Call : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  all_reduce,
  gather,
  all_gather,
  all_to_all,
};
inline constexpr int kCalls = 7;  ///< number of values of Call

[[nodiscard]] std::string_view name(Call call);

/// Traffic that one rank gave to collectives under one stage label. Counts payload, not bytes on
/// the wire: a broadcast counts at its root, a rank's part for itself does not count.
struct Traffic {
  std::string stage;
  std::int64_t messages = 0;  ///< collectives started
  std::int64_t bytes = 0;     ///< given to other ranks
  double seconds = 0;         ///< spent in collectives, waiting for others included
  double elapsed = 0;         ///< between begin_stage and the next one, or now
};

/// Traffic of one kind of collective in one stage.
struct CallTraffic {
  std::string stage;
  Call call = Call::barrier;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
};

enum class EventKind : std::uint8_t { stage, span, message };

/// An interval of one rank's time, kept while events are recorded.
struct Event {
  EventKind kind = EventKind::stage;
  std::string name;         ///< of the stage, the span or the call
  std::int64_t index = -1;  ///< of a span: number of the shard or round; -1 = none
  std::int64_t bytes = 0;   ///< of a message: given to other ranks
  double begin = 0;  ///< seconds since `record_events`, which ends on all ranks at the same moment
  double seconds = 0;
};

}  // namespace berth::comm
