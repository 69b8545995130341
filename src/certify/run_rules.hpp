// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "berth/model/instance.hpp"
#include "berth/model/run_record.hpp"

namespace berth::certify {

/// True for the run of a pinned job on the machines where it runs in the jobs file: rules and
/// states of machines do not bind it.
bool is_pinned_run(const model::Instance& instance, JobId job, const model::JobRun& run);

/// Checks the rules of jobs about their machines in every run, and at every moment on each machine.
/// `fault` takes a job and a sentence. O(runs x jobs on a machine)
void check_run_rules(const model::Instance& instance, std::span<const model::JobRecord> records,
                     const std::function<void(JobId, const std::string&)>& fault);

}  // namespace berth::certify
