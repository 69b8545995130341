// SPDX-License-Identifier: Apache-2.0
#include "berth/base/assert.hpp"

#include <string>

namespace berth {

void broken_contract(const char* kind, const char* condition, const char* file, int line) {
  throw BrokenContract(std::string(file) + ":" + std::to_string(line) + ": broken " + kind + ": " +
                       condition);
}

}  // namespace berth
