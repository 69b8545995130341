// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace berth::apps {

/// CLI11's pages of help within 80 columns: descriptions and lists of related options are wrapped
/// below their first word. Indented lines of footers are commands and stay as they are.
class HelpFormatter : public CLI::Formatter {
 public:
  /// Shows what a checked text is: FILE, DURATION.
  HelpFormatter();
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  /// An option group, under what it asks for.
  std::string make_expanded(const CLI::App* group) const override;
};

}  // namespace berth::apps
