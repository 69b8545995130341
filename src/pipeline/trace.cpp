// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/trace.hpp"

#include <span>

#include "berth/report/trace.hpp"

namespace berth::pipeline {

std::string gather_trace(const comm::Communicator& comm) {
  std::string mine = report::trace_head(comm.rank());
  for (const comm::Event& event : comm.events()) {
    const bool message = event.kind == comm::EventKind::message;
    using Row = report::TraceEvent::Row;
    mine += report::trace_line(comm.rank(), {.row = message ? Row::messages : Row::work,
                                             .name = event.name,
                                             .index = event.index,
                                             .bytes = message ? event.bytes : -1,
                                             .begin = event.begin,
                                             .seconds = event.seconds});
  }
  const auto all = comm.gather_varying<char>(std::span<const char>(mine));
  if (comm.rank() != 0) return {};
  return report::trace_file(std::string(all.begin(), all.end()));
}

}  // namespace berth::pipeline
