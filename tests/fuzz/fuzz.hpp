// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "berth/base/error.hpp"

namespace berth::fuzz {

/// A property of what was read does not hold: a finding.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// Runs `read`; input may be refused, and in no other way than this. A refusal says why.
template <class Read>
bool accepted(Read&& read) {
  try {
    read();
    return true;
  } catch (const InputError& refused) {
    require(!refused.problem().empty(), "a refusal says why");
    return false;
  }
}

inline std::string text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
