// SPDX-License-Identifier: Apache-2.0
#include "berth/base/error.hpp"

#include <string>

#include <gtest/gtest.h>

namespace berth {
namespace {

std::string text(const InputError& error) { return error.what(); }

TEST(InputError, reads_as_file_line_field_problem_hint) {
  const InputError error({"jobs.jsonl", 12, "tasks[0].gpus"}, "is negative", "use 0 or more");
  EXPECT_EQ(text(error), "jobs.jsonl:12: tasks[0].gpus: is negative; use 0 or more");
  EXPECT_EQ(error.where().line, 12);
  EXPECT_EQ(error.problem(), "is negative");
  EXPECT_EQ(error.hint(), "use 0 or more");
}

TEST(InputError, leaves_out_what_is_not_known) {
  EXPECT_EQ(text(InputError({"c.yaml", 0, ""}, "cannot be read")), "c.yaml: cannot be read");
  EXPECT_EQ(text(InputError({"", 0, "--shards"}, "is 0")), "--shards: is 0");
  EXPECT_EQ(text(InputError({}, "nothing to plan")), "nothing to plan");
}

}  // namespace
}  // namespace berth
