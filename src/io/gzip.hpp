// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace berth::io {

[[nodiscard]] bool has_gz_suffix(std::string_view path);
[[nodiscard]] bool looks_like_gzip(std::string_view bytes);

/// All members end to end; zero bytes after the last one are padding. `file` is for messages.
/// @throws InputError: not gzip, truncated, damaged
std::string inflate_members(std::string_view compressed, const std::string& file);

/// Text in, gzip members out.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::string add(std::string_view text);  ///< the bytes that are ready now; may be none
  std::string finish();                    ///< the rest; an empty text gives one empty member

 private:
  std::string deflate_text(std::string_view text, int flush);

  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::size_t in_member_ = 0;
  std::size_t members_ = 0;
};

}  // namespace berth::io
