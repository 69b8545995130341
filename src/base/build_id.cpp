// SPDX-License-Identifier: Apache-2.0
#include "berth/base/build_id.hpp"

#include <cstddef>
#include <cstring>
#include <string_view>

#include <link.h>

namespace berth {
namespace {

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }  // ELF notes

/// The build id in a segment of notes: each has a header, a name and a description.
std::string build_id_in(std::string_view notes) {
  constexpr std::string_view kGnu("GNU", 4);  // with its terminator
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    if (notes.size() < padded(note.n_namesz) + padded(note.n_descsz)) break;
    const std::string_view name = notes.substr(0, note.n_namesz);
    notes.remove_prefix(padded(note.n_namesz));
    if (note.n_type == NT_GNU_BUILD_ID && name == kGnu) return hex(notes.substr(0, note.n_descsz));
    notes.remove_prefix(padded(note.n_descsz));
  }
  return {};
}

/// Stops at the first object, the program itself.
int read_program(dl_phdr_info* object, std::size_t, void* out) {
  auto& found = *static_cast<std::string*>(out);
  for (std::size_t i = 0; i < object->dlpi_phnum && found.empty(); ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    found = build_id_in({begin, static_cast<std::size_t>(segment.p_memsz)});
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    std::string found;
    dl_iterate_phdr(read_program, &found);
    return found.empty() ? std::string("none") : found;
  }();
  return id;
}

}  // namespace berth
