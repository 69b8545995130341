// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "berth/base/error.hpp"

namespace berth::certify {

/// @throws InputError: unless sound; names the field and the job by its number, from 1 on
inline void expect_of_job(bool sound, const char* field, std::size_t job, const char* what) {
  if (sound) return;
  throw InputError({.file = "", .line = 0, .field = field},
                   "job number " + std::to_string(job + 1) + " " + what);
}

}  // namespace berth::certify
