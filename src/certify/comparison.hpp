// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace berth::certify {

/// Compares stated values with recomputed ones.
class Comparison {
 public:
  explicit Comparison(Findings& findings) : findings_(&findings) {}

  template <class T>
  bool present(const std::optional<T>& stated, const std::string& what) {
    if (!stated) findings_->add(FaultKind::missing_entry, "the plan has no " + what);
    return stated.has_value();
  }

  void count(const std::optional<std::int64_t>& stated, std::int64_t actual,
             const std::string& what) {
    if (!present(stated, what) || *stated == actual) return;
    findings_->add(FaultKind::wrong_count, what + " is stated as " + std::to_string(*stated) +
                                               ", recomputed " + std::to_string(actual));
  }

  /// Reports `low` when the stated value is below the recomputed one, else `other`.
  void real(const std::optional<double>& stated, double actual, const std::string& what,
            FaultKind low, FaultKind other) {
    if (!present(stated, what)) return;
    if (std::abs(*stated - actual) <= kTolerance * std::max(1e-300, std::abs(actual))) return;
    findings_->add(*stated < actual ? low : other,
                   what + " is stated as " + told(*stated) + ", recomputed " + told(actual));
  }

  void digest(const std::optional<std::string>& stated, const std::string& actual,
              const std::string& what, FaultKind kind) {
    if (!present(stated, what) || *stated == actual) return;
    findings_->add(kind, what + " is stated as " + *stated + ", recomputed " + actual);
  }

 private:
  /// relative; rounding of the decimal text and of sums
  static constexpr double kTolerance = 1e-12;

  static std::string told(double x) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
    return {buffer.data(), end};
  }

  Findings* findings_;
};

}  // namespace berth::certify
