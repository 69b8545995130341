// SPDX-License-Identifier: Apache-2.0
#include "berth/io/file.hpp"

#include "faults.hpp"

#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

namespace berth::io {
namespace {

using testing::HasSubstr;

/// One gzip member, made by zlib's own file writer.
std::string member(const Folder& folder, const std::string& text) {
  const std::string path = folder / "member.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  if (!text.empty()) gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return folder.bytes("member.gz");
}

void expect_unreadable(const std::string& path, const char* cause) {
  try {
    read_file(path);
    ADD_FAILURE() << "read " << path;
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().file, path);
    EXPECT_THAT(error.what(), HasSubstr(cause));
  }
}

/// About 2.3 MB, more than a piece by default.
std::string long_text() {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(ReadFile, reads_plain_and_empty_files) {
  const Folder folder;
  folder.put("a.txt", "one\ntwo");
  folder.put("empty", "");
  EXPECT_EQ(read_file(folder / "a.txt"), "one\ntwo");
  EXPECT_EQ(read_file(folder / "empty"), "");
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(ReadFile, names_the_file_and_the_cause) {
  const Folder folder;
  expect_unreadable(folder / "absent", "No such file or directory");
  expect_unreadable(folder / ".", "Is a directory");
}

TEST(ReadFile, refuses_devices_and_more_text_than_asked_for) {
  const Folder folder;
  expect_unreadable("/dev/zero", "is a device");
  folder.put("ten.txt", "0123456789");
  folder.put("ten.gz", member(folder, "0123456789"));
  for (const char* name : {"ten.txt", "ten.gz"}) {
    EXPECT_EQ(read_file(folder / name, 10), "0123456789");
    EXPECT_THROW(read_file(folder / name, 9), InputError);
  }
}

TEST(ReadFile, inflates_concatenated_members_and_padding) {
  const Folder folder;
  folder.put("a.gz", member(folder, "one ") + member(folder, "") + member(folder, "two") +
                         std::string(100, '\0'));
  EXPECT_EQ(read_file(folder / "a.gz"), "one two");
}

TEST(ReadFile, tells_truncated_from_damaged_from_foreign_gzip) {
  const Folder folder;
  const std::string whole = member(folder, long_text());
  for (const std::size_t kept :
       {std::size_t{0}, std::size_t{1}, std::size_t{9}, whole.size() / 2, whole.size() - 1}) {
    folder.put("cut.gz", whole.substr(0, kept));
    expect_unreadable(folder / "cut.gz", "truncated gzip");
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(~damaged[damaged.size() - 6]);  // in the CRC
  folder.put("damaged.gz", damaged);
  expect_unreadable(folder / "damaged.gz", "damaged gzip");
  folder.put("plain.gz", "schema: 1\n");
  expect_unreadable(folder / "plain.gz", "not a gzip file");
  folder.put("tail.gz", whole + "tail");
  expect_unreadable(folder / "tail.gz", "bytes after the end");
  folder.put("hidden", whole);
  expect_unreadable(folder / "hidden", "let the name end in .gz");
}

TEST(ReadFile, refuses_gzip_that_is_made_to_fill_memory) {
  const Folder folder;
  const std::string zeros(std::size_t{65} << 20, '\0');
  const std::string mib = member(folder, long_text().substr(0, std::size_t{1} << 20));
  folder.put("bomb.gz", member(folder, zeros));
  expect_unreadable(folder / "bomb.gz", "more than 500 times its size");
  folder.put("dense.gz", member(folder, zeros) + mib);  // 500 times less beside other text
  EXPECT_GT(read_file(folder / "dense.gz").size(), zeros.size());
}

TEST(PieceReader, gives_the_text_in_pieces_plain_or_inflated) {
  const Folder folder;
  const std::string text = long_text();
  folder.put("a.txt", text);
  folder.put("a.gz", member(folder, text.substr(0, 1'000'001)) + member(folder, "") +
                         member(folder, text.substr(1'000'001)) + std::string(9, '\0'));
  for (const char* name : {"a.txt", "a.gz"}) {
    PieceReader reader(folder / name);
    std::string whole, piece;
    double part = 0.0;
    while (reader.append(piece, 199'999)) {
      EXPECT_TRUE(piece.size() == 199'999 || whole.size() + piece.size() == text.size());
      EXPECT_GT(reader.part_read(), part);
      part = reader.part_read();
      whole += piece;
      piece.clear();
    }
    EXPECT_TRUE(whole == text) << name;  // 2 MB would not help anybody to see
    EXPECT_GT(part, 0.99);
  }
}

TEST(PieceReader, refuses_what_read_file_refuses) {
  const Folder folder;
  const std::string whole = member(folder, long_text());
  folder.put("hidden", whole);
  folder.put("cut.gz", whole.substr(0, whole.size() / 2));
  const auto read = [](const std::string& path) {
    PieceReader reader(path);
    for (std::string text; reader.append(text);) text.clear();
  };
  EXPECT_THROW(read(folder / "absent"), InputError);
  EXPECT_THROW(read(folder / "hidden"), InputError);
  EXPECT_THROW(read(folder / "cut.gz"), InputError);
  EXPECT_NO_THROW(read("/dev/null"));
}

TEST(AtomicFile, replaces_the_target_and_leaves_nothing_else) {
  const Folder folder;
  folder.put("a", "before");
  std::filesystem::permissions(folder / "a", std::filesystem::perms(0640));
  write_atomically(folder / "a", [](AtomicFile& file) {
    file.write("af");
    file.write("ter");
  });
  EXPECT_EQ(folder.bytes("a"), "after");
  EXPECT_EQ(std::filesystem::status(folder / "a").permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, has_no_name_that_a_killed_program_would_leave) {
  const Folder folder;
  const int nameless = ::open((folder / ".").c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (nameless < 0) GTEST_SKIP() << "no O_TMPFILE on this file system";
  ::close(nameless);
  AtomicFile file(folder / "a");
  file.write("some text");
  EXPECT_EQ(folder.files(), 0U);
  file.commit();
  EXPECT_EQ(folder.files(), 1U);
}

std::size_t members(const std::string& bytes) {
  const std::string head("\x1f\x8b\x08\0\0\0\0\0", 8);  // gzip, deflate, no name, no time
  std::size_t count = 0;
  for (auto at = bytes.find(head); at != std::string::npos; at = bytes.find(head, at + 1)) ++count;
  return count;
}

TEST(AtomicFile, deflates_by_suffix_into_members_of_equal_bytes) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 5; ++i) text += long_text();  // about 11 MB: three members
  for (const char* name : {"a.gz", "b.gz"}) {
    write_atomically(folder / name, [&](AtomicFile& file) { file.write(text); });
  }
  EXPECT_EQ(read_file(folder / "a.gz"), text);
  EXPECT_EQ(folder.bytes("a.gz"), folder.bytes("b.gz"));
  EXPECT_EQ(members(folder.bytes("a.gz")), 3U);
  EXPECT_LT(folder.bytes("a.gz").size(), text.size() / 3);
  write_atomically(folder / "empty.gz", [](AtomicFile&) {});
  EXPECT_EQ(read_file(folder / "empty.gz"), "");
}

TEST(AtomicFile, follows_a_link) {
  const Folder folder;
  folder.put("real", "before");
  std::filesystem::create_symlink("real", folder / "link");
  write_atomically(folder / "link", [](AtomicFile& file) { file.write("after"); });
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(folder.bytes("real"), "after");
}

TEST(AtomicFile, a_failing_writer_changes_nothing) {
  const Folder folder;
  folder.put("a", "before");
  const auto fails = [](AtomicFile& file) {
    file.write("half");
    throw std::runtime_error("no more");
  };
  EXPECT_THROW(write_atomically(folder / "a", fails), std::runtime_error);
  EXPECT_EQ(folder.bytes("a"), "before");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, a_full_disk_is_a_system_error_and_changes_nothing) {
  const Folder folder;
  folder.put("a", "before");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  std::string message;
  try {
    write_atomically(folder / "a", [](AtomicFile& file) { file.write(std::string(200'000, 'x')); });
  } catch (const SystemError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(message, HasSubstr(folder / "a"));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(folder.bytes("a"), "before");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, a_full_device_is_a_system_error_and_stays_a_device) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "skipped: no /dev/full";
  EXPECT_THROW(write_atomically("/dev/full", [](AtomicFile& file) { file.write("text"); }),
               SystemError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(AtomicFile, a_folder_or_a_missing_folder_is_a_system_error) {
  const Folder folder;
  const auto nothing = [](AtomicFile&) {};
  EXPECT_THROW(write_atomically(folder / ".", nothing), SystemError);
  EXPECT_THROW(write_atomically(folder / "absent/a", nothing), SystemError);
  EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
}  // namespace berth::io
