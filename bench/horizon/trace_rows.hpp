// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "berth/generate/horizon.hpp"

namespace berth::bench {

/// Rows of Philly's `philly/philly.csv.gz` in a folder of traces, from row `first` on.
/// @throws InputError when the file is missing
std::vector<generate::TraceRow> philly_rows(const std::string& traces, std::size_t first);

/// Rows of `acme/converted_kalos_trace.csv`.
std::vector<generate::TraceRow> kalos_rows(const std::string& traces);

}  // namespace berth::bench
