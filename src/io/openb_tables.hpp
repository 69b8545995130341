// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "csv.hpp"

#include <cstdint>
#include <string>

#include "berth/io/import.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

/// Readers of the two tables of the openb trace. @pre options are valid
namespace berth::io {

model::Cluster read_openb_machines(Csv csv, const ImportOptions& options);

/// `file` is for messages. Adds GPU types that no machine has to the cluster.
model::Workload read_openb_pods(Csv csv, const std::string& file, const ImportOptions& options,
                                model::Cluster& cluster);

/// The name of a copy: the name itself when there is only one.
std::string copy_name(const std::string& name, std::int64_t copy, const ImportOptions& options);

/// Refuses a name that would be invalid with the longest suffix.
void check_copies(const Csv& csv, const Csv::Column& name, const ImportOptions& options);

}  // namespace berth::io
