// SPDX-License-Identifier: Apache-2.0
#include "trace_jobs.hpp"

#include <algorithm>

namespace berth::io {

void TraceJobs::count(Notes& notes, std::int64_t line, std::string_view what) {
  auto found = notes.find(what);
  if (found == notes.end()) {
    found = notes.try_emplace(std::string(what), TraceNote{std::string(what), 0, line}).first;
  }
  ++found->second.count;
}

std::vector<TraceNote> TraceJobs::sorted(const Notes& notes) {
  std::vector<TraceNote> list;
  for (const auto& [what, note] : notes) list.push_back(note);
  return list;
}

std::int64_t TraceJobs::skipped() const {
  std::int64_t rows = 0;
  for (const auto& [what, note] : skipped_) rows += note.count;
  return rows;
}

}  // namespace berth::io
