// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::apps {

/// `berth` in XDG_CACHE_HOME, else in ~/.cache (XDG Base Directory Specification); empty: none.
std::string user_cache_folder();

/// Makes the folder, for its user alone, unless it is there. False when it cannot be made.
bool make_own_folder(const std::string& folder);

/// Bytes of a regular file; none for anything else.
std::optional<std::uintmax_t> regular_size(const std::string& path);

/// SHA-256 (hex) of the bytes of a file; none when it cannot be read.
std::optional<std::string> file_digest(const std::string& path);

/// A file that only its user can have written, and why it is not taken for one.
struct OwnFile {
  std::optional<std::string> bytes;  ///< none: there is no such file, or it has a fault
  std::string fault;                 ///< of another owner, a link, writable by others
};
OwnFile read_own_file(const std::string& path);

void make_private(const std::string& path);  ///< nobody else reads or writes it
void touch(const std::string& path);         ///< makes it the newest

/// Removes all files of this suffix but the `kept` newest.
void remove_oldest(const std::string& folder, std::string_view suffix, std::size_t kept);

}  // namespace berth::apps
