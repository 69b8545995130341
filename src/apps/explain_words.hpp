// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read_placement.hpp"

#include <string>

#include "berth/model/instance.hpp"

namespace berth::apps {

/// @throws InputError, with the nearest name, when no job has this one
JobId job_named(const model::Instance& instance, const std::string& name);

/// The entry of a job that waits in the plan, or null. O(waiting jobs)
const model::RawUnplacedJob* find_waiting(const model::Instance& instance, const ReadPlan& plan,
                                          JobId job);

/// State of one job in a plan of one moment: where it is, or why it waits.
std::string state_text(const model::Instance& instance, const ReadPlan& plan, JobId job);

std::string name_of(const model::Instance& instance, JobId job);

void print_head(const std::string& text);  ///< lines of at most 80 columns

}  // namespace berth::apps
