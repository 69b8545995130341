// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_line.hpp"
#include "json_text.hpp"

#include "berth/model/instance.hpp"

namespace berth::io {

/// Reads `"running"` and `"communication"` of a job line and checks them without the cluster.
void read_running(const JsonAt& at, JobLine& line);
void read_communication(const JsonAt& at, JobLine& line);

/// Writes the two keys; writes nothing for a job that has neither.
void add_running(JsonText& json, const model::Instance& instance, const model::Job& job);
void add_communication(JsonText& json, const model::Workload& workload, const model::Job& job);

}  // namespace berth::io
