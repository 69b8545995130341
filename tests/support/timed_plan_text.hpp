// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/horizon/plan.hpp"

namespace berth::test {

/// All fields of a plan in time: bytes in memory have padding.
inline std::string text_of(const horizon::Plan& plan) {
  std::string text;
  const auto add = [&](auto value) { text += std::to_string(value) + ' '; };
  for (const horizon::JobStart& start : plan.starts) {
    add(start.option);
    if (!start.placed()) continue;
    add(start.pool.value());
    add(start.start);
    for (const horizon::TaskShare& share : start.shares.of(plan.shares)) {
      text += ": ";
      add(share.machine.value());
      add(share.group);
      add(share.tasks);
      add(share.devices);
      add(share.lane);
    }
    text += '\n';
  }
  return text;
}

}  // namespace berth::test
