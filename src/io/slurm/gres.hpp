// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io::slurm {

/// One generic resource: `gpu:a100:4(S:0-1)` of a node, `gres:gpu:a100:4` or `gres/gpu:a100=4` of a
/// job's request, `gpu:a100:2(IDX:0-1)` of a job's allocation.
struct Gres {
  std::string name;  ///< "gpu", "shard", ...
  std::string type;  ///< empty: untyped
  std::int64_t count = 1;
  /// device numbers, ascending, if given
  std::vector<int> indices = {};
  bool operator==(const Gres&) const = default;
};

/// Parses a list; no value when it is malformed. "(null)", "N/A" and empty text are an empty list.
std::optional<std::vector<Gres>> parse_gres(std::string_view list);

/// A count by TRES name: `cpu=8,mem=16G,node=2`. Memory in MiB. No value when the name is missing.
std::optional<std::int64_t> tres_amount(std::string_view list, std::string_view name);

}  // namespace berth::io::slurm
