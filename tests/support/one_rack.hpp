// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tiny.hpp"

#include <gtest/gtest.h>

namespace berth::test {

/// A cluster of one rack, with machines of 8 GPUs.
struct OneRack : testing::Test {
  Tiny tiny;
  ClassId machine_class;

  void SetUp() override {
    machine_class = tiny.machine_class("m", tiny.type("X"), 8, 96'000, 1'000'000);
    tiny.pod();
    tiny.rack();
  }
  void add_machines(int count) {
    for (int i = 0; i < count; ++i) tiny.machine(machine_class);
  }
};

}  // namespace berth::test
