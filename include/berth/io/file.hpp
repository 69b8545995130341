// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace berth::io {

/// The whole content; inflated when the name ends in `.gz` (several gzip members are read as one
/// stream). Pipes and devices work. @throws InputError naming the file and the cause: missing,
/// unreadable, a folder, not gzip, truncated or damaged gzip.
std::string read_file(const std::string& path);

/// The same content a piece at a time, for text that need not be held whole. (Of a `.gz` file the
/// compressed bytes are.)
class PieceReader {
 public:
  explicit PieceReader(const std::string& path);  ///< @throws InputError, as `read_file`
  PieceReader(PieceReader&&) noexcept;
  ~PieceReader();

  /// Appends the next piece, of `size` bytes unless it is the last. False: there was nothing left.
  bool append(std::string& text, std::size_t size = std::size_t{1} << 20);

  /// How much of the file has been read, 0 to 1; 1 where that is not known (pipes).
  [[nodiscard]] double part_read() const;

 private:
  struct OpenInput;
  std::unique_ptr<OpenInput> state_;
};

/// Output that replaces `path` whole or not at all. The content goes to a temporary file beside
/// the target; commit() syncs it, renames it over the target and syncs the folder. Without
/// commit, or after any failure, the temporary is gone and an earlier file is untouched. Deflated
/// when the name ends in `.gz`, as gzip members of 4 MiB of text each (equal text gives equal
/// bytes). A link is followed; a device or pipe is written to directly.
/// @throws SystemError naming the file and the cause
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(AtomicFile&&) noexcept;
  ~AtomicFile();

  void write(std::string_view text);  ///< appends
  void commit();                      ///< @post the target holds what was written; write no more

 private:
  struct PendingOutput;
  std::unique_ptr<PendingOutput> state_;
};

/// Throws what writing to `path` would throw at its very beginning (no such folder, not allowed),
/// so that long work need not be lost to it. Devices and pipes are left alone.
void expect_writable(const std::string& path);

/// Runs `writer` on an AtomicFile and commits it.
void write_atomically(const std::string& path, const std::function<void(AtomicFile&)>& writer);

}  // namespace berth::io
