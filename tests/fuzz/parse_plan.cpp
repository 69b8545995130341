// SPDX-License-Identifier: Apache-2.0
// Any text is a plan file or refused.
#include "fuzz.hpp"

#include "berth/io/plan_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  fuzz::accepted([&] { io::parse_plan(fuzz::text_of(bytes, size), "plan.json"); });
  return 0;
}
