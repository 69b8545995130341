// SPDX-License-Identifier: Apache-2.0
#include "gzip.hpp"

#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::io {
namespace {

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw InputError({.file = path, .line = 0, .field = ""},
                   std::string("cannot read: ") + std::strerror(error));
}

/// A file open for reading. Its size is only an estimate: a pipe has none, a file may grow.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) cannot_read(path, errno);
    struct stat found {};
    if (::fstat(fd_, &found) == 0 && S_ISREG(found.st_mode)) {
      size_ = static_cast<std::size_t>(found.st_size);
    }
  }
  ~OpenFile() { ::close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }  ///< 0: unknown

  /// Fills the span and returns its size, which is smaller only at the end.
  std::size_t read(std::span<char> bytes) const {
    std::size_t used = 0;
    while (used < bytes.size()) {
      const ssize_t got = ::read(fd_, bytes.data() + used, bytes.size() - used);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) cannot_read(path_, errno);
      if (got == 0) break;
      used += static_cast<std::size_t>(got);
    }
    return used;
  }

 private:
  std::string path_;
  int fd_;
  std::size_t size_ = 0;
};

std::string read_bytes(const std::string& path) {
  const OpenFile file(path);
  std::string bytes(file.size() > 0 ? file.size() + 1 : std::size_t{1} << 16, '\0');
  std::size_t used = 0;
  for (;;) {
    used += file.read(std::span(bytes).subspan(used));
    if (used < bytes.size()) break;
    bytes.resize(bytes.size() * 2);
  }
  bytes.resize(used);
  return bytes;
}

void refuse_gzip(const std::string& path, std::string_view bytes) {
  if (!looks_like_gzip(bytes)) return;
  throw InputError({.file = path, .line = 0, .field = ""}, "is gzip, but its name does not say so",
                   "let the name end in .gz");
}

}  // namespace

struct PieceReader::OpenInput {
  explicit OpenInput(const std::string& named) : path(named) {
    if (!has_gz_suffix(path)) {
      file.emplace(path);
      return;
    }
    compressed = read_bytes(path);
    inflater.emplace(compressed, path);
  }

  std::string path;
  std::optional<OpenFile> file;  // plain
  std::size_t used = 0;          // bytes of `file` read so far
  std::string compressed;        // of a .gz file
  std::optional<Inflater> inflater;
};

PieceReader::PieceReader(const std::string& path) : state_(std::make_unique<OpenInput>(path)) {}
PieceReader::PieceReader(PieceReader&&) noexcept = default;
PieceReader::~PieceReader() = default;

bool PieceReader::append(std::string& text, std::size_t size) {
  OpenInput& s = *state_;
  const std::size_t before = text.size();
  text.resize(before + size);
  const auto piece = std::span(text).subspan(before);
  const std::size_t got = s.inflater ? s.inflater->read(piece) : s.file->read(piece);
  text.resize(before + got);
  if (s.file && s.used == 0) refuse_gzip(s.path, std::string_view(text).substr(before));
  s.used += got;
  return got > 0;
}

double PieceReader::part_read() const {
  const OpenInput& s = *state_;
  const std::size_t all = s.inflater ? s.compressed.size() : s.file->size();
  const std::size_t read = s.inflater ? all - s.inflater->left() : s.used;
  return all == 0 ? 1.0 : static_cast<double>(read) / static_cast<double>(all);
}

std::string read_file(const std::string& path) {
  std::string bytes = read_bytes(path);
  if (has_gz_suffix(path)) return inflate_members(bytes, path);
  refuse_gzip(path, bytes);
  return bytes;
}

}  // namespace berth::io
