// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace berth::report {

/// From the type of the document to the begin of its body: content policy, title, style sheet.
/// @param script  the only script that the document may run; empty: none
std::string page_head(std::string_view title, std::string_view script);

/// Links to those of these sections, by id and name, that the body has.
std::string page_links(std::span<const std::pair<std::string_view, std::string_view>> sections,
                       std::string_view body);

}  // namespace berth::report
