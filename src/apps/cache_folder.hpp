// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace berth::apps {

/// `berth` in XDG_CACHE_HOME, else in ~/.cache (XDG Base Directory Specification); empty: none.
std::string user_cache_folder();

/// Makes the folder, for its user alone, unless it is there. False when it cannot be made.
bool make_own_folder(const std::string& folder);

/// Bytes of a regular file; none for anything else.
std::optional<std::uintmax_t> regular_size(const std::string& path);

/// What differs once a file has been written: device, inode, size, and the times of the last change
/// of content and of anything. No user can set the latter but by the clock of the machine.
struct FileState {
  std::array<std::int64_t, 5> words;
  std::chrono::nanoseconds changed;  ///< the last of these, since 1970
};
/// None for what is no regular file.
std::optional<FileState> file_state(const std::string& path);

/// SHA-256 (hex) of the bytes of a file; none when it cannot be read.
std::optional<std::string> file_digest(const std::string& path);

/// Bytes of a file as they lie in memory, read only.
class MappedFile {
 public:
  /// @param descriptor  of a file that is open for reading; stays open
  MappedFile(int descriptor, std::size_t size);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();
  /// Empty when the file is, and when it cannot be mapped.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

/// A file that only its user can have written, and why it is not taken for one.
struct OwnFile {
  std::optional<MappedFile> file;  ///< none: there is no such file, or it has a fault
  std::string fault;               ///< of another owner, a link, writable by others
};
/// For files that are replaced as a whole: one that shrinks while it is mapped ends the program.
OwnFile map_own_file(const std::string& path);

void make_private(const std::string& path);  ///< nobody else reads or writes it
void touch(const std::string& path);         ///< makes it the newest

/// Removes all files of this suffix but the `kept` newest.
void remove_oldest(const std::string& folder, std::string_view suffix, std::size_t kept);

}  // namespace berth::apps
