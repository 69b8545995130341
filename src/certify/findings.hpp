// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/base/printable.hpp"
#include "berth/certify/check.hpp"
#include "berth/model/resources.hpp"

namespace berth::certify {

/// Collects faults: keeps the first few, counts all.
class Findings {
 public:
  explicit Findings(CheckResult& checked) : checked_(&checked) {}

  /// @param text  may have words of the files in it
  void add(FaultKind kind, const std::string& text) {
    if (checked_->faults.size() < CheckResult::kMostFaults) {
      checked_->faults.push_back({kind, printable(text)});
    }
    ++checked_->fault_count;
  }
  [[nodiscard]] std::int64_t count() const { return checked_->fault_count; }

 private:
  CheckResult* checked_;
};

/// "4000 CPU thousandths, 512 MiB of memory": optional resources only if their amount is not 0.
inline std::string amounts_text(const model::Resources& amounts) {
  std::string text;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    const model::ResourceRow& row = model::kResourceTable[r];
    if (row.optional() && amounts[r] == 0) continue;
    text += (r == 0 ? "" : ", ") + std::to_string(amounts[r]) + " " + std::string(row.unit);
  }
  return text;
}

}  // namespace berth::certify
