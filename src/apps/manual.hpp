// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace berth::apps {

/// The manual page of the program and all its commands, for man(1).
std::string manual(const CLI::App& app);

/// The script with which bash completes commands, options, words of options and names of files.
std::string bash_completion(const CLI::App& app);

}  // namespace berth::apps
