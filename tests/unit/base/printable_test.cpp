// SPDX-License-Identifier: Apache-2.0
#include "berth/base/printable.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/base/build_id.hpp"
#include "berth/base/error.hpp"

namespace berth {
namespace {

TEST(Printable, shows_control_characters_and_leaves_the_rest) {
  EXPECT_EQ(printable("plain text, \"quoted\" \\x"), "plain text, \"quoted\" \\x");
  EXPECT_EQ(printable("\x1b[31m\nplan is VALID\t\x7f"), "\\x1b[31m\\x0aplan is VALID\\x09\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(printable("caf\xc3\xa9 \xc2\xa0 \xe2\x82\xac"), "caf\xc3\xa9 \xc2\xa0 \xe2\x82\xac");
  EXPECT_EQ(printable("\xc2"), "\xc2");  // no character, and no control
}

TEST(Printable, makes_one_line_of_an_input_error) {
  const InputError error({.file = "a\nb", .line = 3, .field = "\x1b]0;x\x07"}, "bad", "or\rgood");
  EXPECT_STREQ(error.what(), "a\\x0ab:3: \\x1b]0;x\\x07: bad; or\\x0dgood");
  EXPECT_EQ(error.where().file, "a\nb");
}

TEST(BuildId, is_the_same_at_every_call_and_fits_a_line) {
  EXPECT_EQ(build_id(), build_id());
  EXPECT_FALSE(build_id().empty());
  EXPECT_EQ(build_id().find_first_not_of("0123456789abcdefnone"), std::string::npos);
}

}  // namespace
}  // namespace berth
