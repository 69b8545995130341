// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/error.hpp"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

namespace berth::comm {
namespace {

template <class Error>
Failure failure(const Error& error) {
  return failure_of(std::make_exception_ptr(error));
}

TEST(FailureOf, keeps_text_and_names_the_exit_code) {
  const Failure input = failure(InputError({"c.yaml", 3, "gpus"}, "is negative"));
  EXPECT_EQ(input.exit_code, ExitCode::bad_input);
  EXPECT_EQ(input.message, "c.yaml:3: gpus: is negative");

  const Failure agreed = failure(AgreedError({ExitCode::required_missing, "job a"}, 2));
  EXPECT_EQ(agreed.exit_code, ExitCode::required_missing);
  EXPECT_EQ(agreed.message, "job a");

  const Failure system = failure(SystemError("disk full"));
  EXPECT_EQ(system.exit_code, ExitCode::internal_error);
  EXPECT_EQ(system.message, "disk full");

  EXPECT_EQ(failure(std::bad_alloc()).message, "out of memory");
  EXPECT_EQ(failure(42).exit_code, ExitCode::internal_error);
}

TEST(MpiError, names_the_call_and_the_code) {
  const MpiError error("MPI_Ibcast", 17, "message truncated");
  EXPECT_STREQ(error.what(), "MPI_Ibcast: message truncated");
  EXPECT_EQ(error.code(), 17);
}

}  // namespace
}  // namespace berth::comm
