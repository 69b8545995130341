// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

namespace berth::io {

/// Sample of Alibaba PAI 2020 (Weng et al., NSDI 2022): arrival_time (s), length (s), cpus, which
/// are 1 to 4 slots of equal size and count as GPUs here. No user, no GPU type.
void read_pai_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file);
  const auto arrival = csv.need("arrival_time");
  const auto length = csv.need("length");
  const auto slots = csv.need("cpus");
  while (csv.next()) {
    const auto submit = number_or_none(csv, arrival);
    if (!submit) csv.fail(arrival.name, "has no arrival");
    jobs.add({.id = {},
              .line = csv.line(),
              .submit = *submit,
              .duration = csv.amount(length, kMaxSeconds),
              .gpus = count_of(csv, slots, kMaxCount)});
  }
}

}  // namespace berth::io
