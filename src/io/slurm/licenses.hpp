// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::io::slurm {

/// Licenses by name.
using LicenseCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// A job's licenses, `matlab:2,ansys` (a number that is not given is 1), those of one name added
/// up. No value: malformed, or alternatives (`a|b`).
std::optional<LicenseCounts> parse_licenses(std::string_view list);

}  // namespace berth::io::slurm
