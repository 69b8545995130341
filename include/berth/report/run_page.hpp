// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "berth/model/instance.hpp"
#include "berth/model/run_record.hpp"

namespace berth::report {

/// What a page about a simulation shows. Holds references.
struct RunPageContent {
  const model::InstanceView& instance;
  const model::RunSummary& summary;
  std::span<const model::JobRecord> records;
};

/// One HTML document about a simulation, as `page` makes one about a plan: its figures, GPUs in use
/// and jobs waiting over time, jobs in time, delays by size, queue and job. It has no script.
/// Equal content gives equal bytes. O(runs log runs + machines)
std::string run_page(const RunPageContent& content);

}  // namespace berth::report
