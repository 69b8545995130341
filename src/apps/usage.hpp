// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace berth::apps {

/// Adds the examples and exit codes to every command's help.
void add_examples(CLI::App& app);

/// Describes a usage error in one line: the option or command, the problem, the likely intended
/// word, and whose help to read.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace berth::apps
