// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace berth::io {

/// Text of any file, of which a parser makes a multiple in memory.
inline constexpr std::size_t kMostText = std::size_t{4} << 30;  ///< bytes; simdjson's limit

/// Reads a whole file; inflates it when the name ends in `.gz` (several gzip members are read as
/// one stream). Pipes work, and /dev/null is an empty file. @throws InputError naming the file and
/// the cause: missing, unreadable, a folder or device, not gzip, truncated or damaged gzip, more
/// than `most` bytes of text.
std::string read_file(const std::string& path, std::size_t most = kMostText);

/// Reads a file piece by piece, so that the text need not be in memory as a whole. (The compressed
/// bytes of a `.gz` file are.)
class PieceReader {
 public:
  explicit PieceReader(const std::string& path);  ///< @throws InputError, as `read_file`
  PieceReader(PieceReader&&) noexcept;
  ~PieceReader();

  /// Appends the next piece, of `size` bytes unless it is the last. False at the end of the file.
  bool append(std::string& text, std::size_t size = std::size_t{1} << 20);

  /// Throws the InputError of this file.
  [[noreturn]] void refuse(const std::string& problem) const;

  /// Fraction of the file read so far, 0 to 1; 1 when the size is unknown (pipes).
  [[nodiscard]] double part_read() const;

 private:
  struct OpenInput;
  std::unique_ptr<OpenInput> state_;
};

/// Output that replaces `path` whole or not at all. The content is written to a temporary file
/// beside the target, without a name where the file system allows (then nothing is left of it when
/// the program is killed); commit() syncs it, renames it over the target and syncs the folder.
/// Without commit, or after any failure, the temporary file is removed and an earlier file is
/// untouched. Deflated when the name ends in `.gz`, as gzip members of 4 MiB of text each (equal
/// text gives equal bytes). A link is followed; a device or pipe is written to directly.
/// @throws SystemError naming the file and the cause
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(AtomicFile&&) noexcept;
  ~AtomicFile();

  void write(std::string_view text);  ///< appends
  void commit();  ///< @post the target holds all that was written; do not write afterwards

 private:
  struct PendingOutput;
  std::unique_ptr<PendingOutput> state_;
};

/// Throws the error that writing to `path` would throw at its start (no such folder, not allowed),
/// so that it is reported before long work. Devices and pipes are not tested.
void expect_writable(const std::string& path);

/// Runs `writer` on an AtomicFile and commits it.
void write_atomically(const std::string& path, const std::function<void(AtomicFile&)>& writer);

}  // namespace berth::io
