// SPDX-License-Identifier: Apache-2.0
#include "gavel_throughputs.hpp"

#include "numbers.hpp"
#include "trace_json.hpp"
#include "words.hpp"

#include "berth/io/file.hpp"
#include "berth/model/cluster.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kUnconsolidated = "_unconsolidated";
constexpr double kMaxThroughput = 1e9;  ///< steps/s, a guard

/// Splits "('ResNet-18 (batch size 32)', 2)".
GavelThroughputs::Key gavel_key(const JsonAt& at) {
  const std::string_view text = at.key();
  const std::size_t comma = text.rfind("', ");
  std::int32_t gpus = 0;
  if (!text.starts_with("('") || !text.ends_with(')') || comma == std::string_view::npos ||
      !read_number(text.substr(comma + 3, text.size() - comma - 4), gpus) || gpus < 1) {
    at.fail("is no pair of job type and GPUs", "as \"('LM (batch size 5)', 1)\"");
  }
  return {std::string(text.substr(2, comma - 2)), gpus};
}

}  // namespace

double GavelThroughputs::at(const std::string& gpu_type, const Key& key) const {
  const auto type = consolidated.find(gpu_type);
  if (type == consolidated.end()) return 0.0;
  const auto found = type->second.find(key);
  return found == type->second.end() ? 0.0 : found->second;
}

GavelThroughputs read_gavel_throughputs(const std::string& path) {
  static constexpr std::string_view alone[] = {"null"};
  const JsonDocument document(read_file(path), path);
  GavelThroughputs throughputs;
  document.root().entries([&](const JsonAt& type) {
    std::string_view name = type.key();
    const bool spread = name.ends_with(kUnconsolidated);
    if (spread) name.remove_suffix(kUnconsolidated.size());
    if (const std::string fault = name_fault(name); !fault.empty()) type.fail(fault);
    auto& rows = (spread ? throughputs.spread : throughputs.consolidated)[std::string(name)];
    type.entries([&](const JsonAt& row) {
      const auto key = gavel_key(row);
      const std::uint64_t seen = row.known_fields(alone, [&](std::size_t, const JsonAt& value) {
        rows[key] = value.amount(kMaxThroughput);
      });
      row.need(alone, 1, seen);
    });
  });
  return throughputs;
}

}  // namespace berth::io
