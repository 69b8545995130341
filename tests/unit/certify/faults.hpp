// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/certify/check.hpp"

namespace berth::certify {

inline std::vector<FaultKind> kinds(const CheckResult& checked) {
  std::vector<FaultKind> all;
  for (const Fault& f : checked.faults) all.push_back(f.kind);
  return all;
}

/// A line for each fault.
inline std::string texts(const CheckResult& checked) {
  std::string all;
  for (const Fault& f : checked.faults) all += std::string(name(f.kind)) + ": " + f.text + "\n";
  return all;
}

}  // namespace berth::certify
