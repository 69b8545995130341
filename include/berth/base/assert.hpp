// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Contracts. EXPECT states a precondition, ASSERT an invariant inside, ENSURE a postcondition;
/// a broken one is a bug and throws berth::BrokenContract. Level 0 (none) checks nothing, 1
/// (normal) is the release default, 2 (heavy) may cost as much as the work it guards.

#include <stdexcept>

namespace berth {

class BrokenContract : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void broken_contract(const char* kind, const char* condition, const char* file,
                                  int line);

}  // namespace berth

#ifndef BERTH_ASSERTION_LEVEL
#define BERTH_ASSERTION_LEVEL 1
#endif

#define BERTH_CONTRACT(level, kind, condition)                        \
  do {                                                                \
    if ((level) <= BERTH_ASSERTION_LEVEL && !(condition))             \
      ::berth::broken_contract(kind, #condition, __FILE__, __LINE__); \
  } while (false)

#define BERTH_EXPECT(condition) BERTH_CONTRACT(1, "precondition", condition)
#define BERTH_ASSERT(condition) BERTH_CONTRACT(1, "invariant", condition)
#define BERTH_ENSURE(condition) BERTH_CONTRACT(1, "postcondition", condition)
#define BERTH_ASSERT_HEAVY(condition) BERTH_CONTRACT(2, "invariant", condition)
