// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::report {

/// An interval of one rank's time, for the trace viewers Perfetto and chrome://tracing: they show a
/// rank as a process with one row for its work and one for its messages.
struct TraceEvent {
  enum class Row : std::uint8_t { work, messages };
  Row row = Row::work;
  std::string_view name;
  std::int64_t index = -1;  ///< appended to the name unless negative
  std::int64_t bytes = -1;  ///< shown unless negative
  double begin = 0.0;       ///< seconds from the start of all ranks
  double seconds = 0.0;
};

/// The lines that name the rank and its rows; they precede its events.
std::string trace_head(int rank);

/// The line of one event.
std::string trace_line(int rank, const TraceEvent& event);

/// The whole file from the heads and lines of all ranks, in any order.
std::string trace_file(const std::string& lines);

}  // namespace berth::report
