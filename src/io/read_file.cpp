// SPDX-License-Identifier: Apache-2.0
#include "gzip.hpp"

#include <cerrno>
#include <cstring>
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

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

/// Bytes as they lie. The size is only a guess: a pipe has none, a file may grow.
std::string read_bytes(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) cannot_read(path, errno);
  const Descriptor closes{fd};
  struct stat status {};
  const bool sized = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  std::string bytes(sized ? static_cast<std::size_t>(status.st_size) + 1 : 1 << 16, '\0');
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::string bytes = read_bytes(path);
  if (has_gz_suffix(path)) return inflate_members(bytes, path);
  if (looks_like_gzip(bytes)) {
    throw InputError({.file = path, .line = 0, .field = ""},
                     "is gzip, but its name does not say so", "let the name end in .gz");
  }
  return bytes;
}

}  // namespace berth::io
