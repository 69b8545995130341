// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

/// Paths of the sources and, if present, the real data. Link berth_test_support. A test without its
/// data is skipped with the reason:
///   const auto traces = test::traces();
///   if (!traces) GTEST_SKIP() << "skipped: no BERTH_TRACES";
namespace berth::test {

inline std::filesystem::path source_root() { return BERTH_SOURCE_ROOT; }

/// The folder named by the variable, else the default; nothing when it does not exist.
inline std::optional<std::filesystem::path> folder_from(const char* variable,
                                                        const std::filesystem::path& otherwise) {
  const char* const named = std::getenv(variable);
  const std::filesystem::path folder = named != nullptr ? std::filesystem::path(named) : otherwise;
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

inline std::optional<std::filesystem::path> traces() {
  return folder_from("BERTH_TRACES", source_root() / "../shared/traces");
}

inline std::optional<std::filesystem::path> bench() {
  return folder_from("BERTH_BENCH", source_root() / "../shared/bench");
}

}  // namespace berth::test
