// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "berth/certify/check.hpp"

namespace berth::certify {

/// Collects faults: keeps the first few, counts all.
class Findings {
 public:
  explicit Findings(CheckResult& checked) : checked_(&checked) {}

  void add(FaultKind kind, std::string text) {
    if (checked_->faults.size() < CheckResult::kMostFaults) {
      checked_->faults.push_back({kind, std::move(text)});
    }
    ++checked_->fault_count;
  }
  [[nodiscard]] std::int64_t count() const { return checked_->fault_count; }

 private:
  CheckResult* checked_;
};

}  // namespace berth::certify
