// SPDX-License-Identifier: Apache-2.0
#include "berth/base/archive.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/name_table.hpp"
#include "berth/base/strong_id.hpp"

namespace berth {
namespace {

enum class Colour : std::uint8_t { red, green };

/// Its padding is no part of the bytes: the fields are listed.
struct Padded {
  std::uint8_t narrow = 0;
  std::int64_t wide = 0;
  bool operator==(const Padded&) const = default;
};

template <class Archive>
void describe(Archive& archive, Padded& padded) {
  archive(padded.narrow, padded.wide);
}

struct Everything {
  std::int32_t number = 0;
  double real = 0.0;
  bool flag = false;
  Colour colour = Colour::red;
  JobId job;
  std::array<std::int16_t, 3> fixed = {};
  std::string text;
  std::vector<std::uint64_t> raw = {7};  // reading replaces what is there
  std::vector<Padded> described = {{}, {}};
  std::vector<std::string> texts;
  std::vector<std::vector<Padded>> nested;
  std::optional<std::string> none = "old", some;
  std::pair<std::uint32_t, double> pair;
  std::map<std::string, std::vector<int>> map;

  [[nodiscard]] auto fields() const {
    return std::tie(number, real, flag, colour, job, fixed, text, raw, described, texts, nested,
                    none, some, pair, map);
  }
};

template <class Archive>
void describe(Archive& archive, Everything& e) {
  archive(e.number, e.real, e.flag, e.colour, e.job, e.fixed, e.text, e.raw);
  archive(e.described, e.texts, e.nested, e.none, e.some, e.pair, e.map);
}

Everything some_of_everything() {
  return {.number = -3,
          .real = 1e-300,
          .flag = true,
          .colour = Colour::green,
          .job = JobId(41),
          .fixed = {1, -2, 3},
          .text = std::string("a\0b", 3),
          .raw = {1, std::numeric_limits<std::uint64_t>::max()},
          .described = {{1, 2}, {3, -4}, {5, 6}},
          .texts = {"x", "", "yz"},
          .nested = {{{9, 8}}, {}, {{7, 6}, {5, 4}}},
          .none = std::nullopt,
          .some = "here",
          .pair = {17, -0.5},
          .map = {{"k", {1, 2}}, {"", {}}}};
}

TEST(Archive, brings_back_every_kind_of_field) {
  const Everything written = some_of_everything();
  const auto read = from_bytes<Everything>(to_bytes(written));
  EXPECT_EQ(read.fields(), written.fields());
}

TEST(Archive, brings_back_lists_of_any_length) {
  for (const std::size_t size : {0, 1, 127, 128, 129, 16383, 16384, 3000000}) {
    const std::string text(size, 'x');
    EXPECT_EQ(from_bytes<std::string>(to_bytes(text)), text);
    EXPECT_EQ(from_bytes<std::vector<Padded>>(to_bytes(std::vector<Padded>(size % 1000))).size(),
              size % 1000);
  }
}

TEST(Archive, brings_back_names) {
  NameTable names;
  for (const char* name : {"a", "bc", "", "def"}) names.add(name);
  const auto copy = from_bytes<NameTable>(to_bytes(names));
  ASSERT_EQ(copy.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(copy[i], names[i]);
}

/// The bytes of a message are those of its fields, and one for the length of a short list.
TEST(Archive, adds_nothing_but_lengths) {
  EXPECT_EQ(to_bytes(Padded{1, 2}).size(), 9U);
  EXPECT_EQ(to_bytes(std::vector<Padded>(5)).size(), 1U + 5 * 9);
  EXPECT_EQ(to_bytes(std::string("abc")).size(), 1U + 3);
  EXPECT_EQ(to_bytes(std::string(127, 'x')).size(), 1U + 127);
  EXPECT_EQ(to_bytes(std::string(128, 'x')).size(), 2U + 128);
  EXPECT_EQ(to_bytes(JobId(1)).size(), 4U);
  ByteWriter writer;
  writer(std::int8_t{1}, std::string_view("ab"));
  EXPECT_EQ(writer.size(), 1U + 1 + 2);
}

TEST(Archive, refuses_bytes_that_are_cut_anywhere_or_too_many) {
  const std::string whole = to_bytes(some_of_everything());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_THROW((void)from_bytes<Everything>(whole.substr(0, size)), std::out_of_range);
  }
  EXPECT_THROW((void)from_bytes<Everything>(whole + "x"), std::out_of_range);
}

/// No length is believed: memory is reserved for items that are there.
TEST(Archive, refuses_lengths_that_no_bytes_follow) {
  const std::string many(9, '\xFF');
  for (const std::string& length :
       {std::string("\5"), std::string("\xFF\xFF\xFF\xFF\x7F"), std::string(8, '\x80') + '\x20',
        many + '\1', many + '\x7F', many + "\xFF\1"}) {
    SCOPED_TRACE(testing::PrintToString(length));
    const std::string bytes = length + "abcd";
    EXPECT_THROW((void)from_bytes<std::string>(bytes), std::out_of_range);
    EXPECT_THROW((void)from_bytes<std::vector<std::uint64_t>>(bytes), std::out_of_range);
    EXPECT_THROW((void)from_bytes<std::vector<Padded>>(bytes), std::out_of_range);
    EXPECT_THROW((void)from_bytes<std::vector<std::string>>(bytes), std::out_of_range);
    EXPECT_THROW((void)(from_bytes<std::map<int, int>>(bytes)), std::out_of_range);
  }
}

TEST(Archive, refuses_flags_that_are_neither_true_nor_false) {
  EXPECT_TRUE(from_bytes<bool>("\1"));
  EXPECT_THROW((void)from_bytes<bool>("\2"), std::out_of_range);
  EXPECT_THROW((void)from_bytes<std::optional<std::string>>("\3"), std::out_of_range);
}

/// Any bytes at all are read or refused.
TEST(Archive, survives_damage) {
  const std::string whole = to_bytes(some_of_everything());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 1, 7}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        (void)from_bytes<Everything>(damaged);
      } catch (const std::out_of_range&) {
        continue;
      }
    }
  }
}

}  // namespace
}  // namespace berth
