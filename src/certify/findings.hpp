// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "berth/certify/check.hpp"

namespace berth::certify {

/// Faults as they are found; the first few are kept, all are counted.
class Findings {
 public:
  explicit Findings(Verdict& verdict) : verdict_(&verdict) {}

  void add(FaultKind kind, std::string text) {
    if (verdict_->faults.size() < Verdict::kMostFaults) {
      verdict_->faults.push_back({kind, std::move(text)});
    }
    ++verdict_->fault_count;
  }
  [[nodiscard]] std::int64_t count() const { return verdict_->fault_count; }

 private:
  Verdict* verdict_;
};

}  // namespace berth::certify
