// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "berth/report/page.hpp"

namespace berth::report {

struct MachineUse;

/// Parts of the page as HTML, each a section or empty.
std::string headline_section(const PageContent& content, std::span<const MachineUse> uses);
std::string gap_section(const PageContent& content);
std::string map_section(const PageContent& content, std::span<const MachineUse> uses);
std::string fragments_section(const PageContent& content, std::span<const MachineUse> uses);
std::string waiting_section(const PageContent& content);
std::string queue_section(const PageContent& content);
std::string price_section(const PageContent& content);
std::string course_section(const PageContent& content);
std::string moves_section(const PageContent& content);
std::string time_section(const PageContent& content);

/// What the script draws, as one JSON text.
std::string map_data(const PageContent& content, std::span<const MachineUse> uses);

}  // namespace berth::report
