// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/base/error.hpp"

namespace berth::io {

/// A bad text and what the message must say of it.
struct Fault {
  const char* name;
  std::string text;
  std::int64_t line;
  const char* field;
  const char* problem;    ///< part of it
  const char* hint = "";  ///< part of it
};

inline void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

/// Runs `read` on the text and compares what it throws.
template <class Error = InputError, class Read>
void expect_fault(const Fault& fault, const Read& read) {
  SCOPED_TRACE(fault.name);
  try {
    read(fault.text);
    ADD_FAILURE() << "accepted: " << fault.text;
  } catch (const Error& error) {
    SCOPED_TRACE(error.what());
    EXPECT_EQ(error.where().line, fault.line);
    EXPECT_EQ(error.where().field, fault.field);
    EXPECT_THAT(error.problem(), testing::HasSubstr(fault.problem));
    EXPECT_THAT(error.hint(), testing::HasSubstr(fault.hint));
  }
}

/// A folder of its own for each test, removed afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-io-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw SystemError("no temporary folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string bytes(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace berth::io
