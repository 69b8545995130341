// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::sim {

/// Writes the bytes of Run::checkpoint with what they belong to, whole or not at all.
/// @param input  digest of the instance and all options that change a run, as text
/// @throws SystemError
void write_checkpoint(const std::string& path, std::string_view input, std::string_view bytes);

/// The bytes of a checkpoint of the same input. @throws InputError: not a checkpoint, of another
/// build, damaged, or of another input
std::string read_checkpoint(const std::string& path, std::string_view input);

}  // namespace berth::sim
