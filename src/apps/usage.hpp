// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace berth::apps {

/// Gives every command the examples and the exit codes that belong to it.
void add_examples(CLI::App& app);

/// What is wrong with a command line, in one line: the option or command, what is wrong with it,
/// what may have been meant, and whose help tells more.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace berth::apps
