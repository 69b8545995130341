// SPDX-License-Identifier: Apache-2.0
// Chrome's trace event format: "M" names a process or thread, "X" is an event with its duration in
// microseconds. Perfetto reads it too.
#include "berth/report/trace.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace berth::report {
namespace {

std::string line(const nlohmann::json& record) {
  return record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ",\n";
}

std::string name_of(int rank, int row, const char* what, const std::string& name) {
  return line(
      {{"ph", "M"}, {"pid", rank}, {"tid", row}, {"name", what}, {"args", {{"name", name}}}});
}

/// Seconds to microseconds, rounded to a nanosecond.
double microseconds(double seconds) { return std::round(1e9 * seconds) / 1e3; }

}  // namespace

std::string trace_head(int rank) {
  return name_of(rank, 0, "process_name", fmt::format("rank {}", rank)) +
         name_of(rank, 0, "thread_name", "work") + name_of(rank, 1, "thread_name", "messages");
}

std::string trace_line(int rank, const TraceEvent& event) {
  std::string name(event.name);
  if (event.index >= 0) name += fmt::format(" {}", event.index);
  nlohmann::json record{{"ph", "X"},
                        {"pid", rank},
                        {"tid", static_cast<int>(event.row)},
                        {"name", name},
                        {"ts", microseconds(event.begin)},
                        {"dur", microseconds(event.seconds)}};
  if (event.bytes >= 0) record["args"] = {{"bytes", event.bytes}};
  return line(record);
}

std::string trace_file(const std::string& lines) {
  std::string_view events(lines);
  if (events.ends_with(",\n")) events.remove_suffix(2);
  return fmt::format("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", events);
}

}  // namespace berth::report
