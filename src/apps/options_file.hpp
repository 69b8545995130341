// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::apps {

/// The command line with the options of its `--options-file FILE` behind it, without that option. A
/// line of the file is `name = value`, or `name` for an option without a value; `#` begins a
/// comment. An option that the command line has too is taken from there.
/// @throws InputError when the file cannot be read, or a line is neither
std::vector<std::string> with_options_file(std::vector<std::string> words);

}  // namespace berth::apps
