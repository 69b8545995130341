// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::io::slurm {

/// Names of a host list, or in `fault` the error.
struct Hosts {
  std::vector<std::string> names;
  std::string fault;  ///< empty when sound
};

/// Expands Slurm's host list: `n[0-3,07],c1,r[1-2]n[0-9]`. Empty text and "(null)" give no hosts.
Hosts expand_hosts(std::string_view list);

/// The names as a host list with runs of numbers as ranges; expanding it gives the names back.
std::string host_list(const std::vector<std::string>& names);

/// Splits at commas outside brackets and parentheses.
std::vector<std::string_view> split_list(std::string_view list, char separator = ',');

}  // namespace berth::io::slurm
