// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Lists of machines with their equipment, without a fabric: one pod, one rack for each machine
/// class. `.gz` by suffix.
/// @throws InputError with line and column
model::Cluster import_philly_machines(const std::string& path);
model::Cluster import_pai_machines(const std::string& path);

/// A format of such lists: one row of the registry.
struct InventoryFormat {
  std::string_view name;  ///< of the subcommand
  std::string_view what;  ///< one line for its help
  std::string_view file;  ///< as published
  model::Cluster (*import)(const std::string& path);
};

/// All formats, by name.
std::span<const InventoryFormat> inventory_formats();

}  // namespace berth::io
