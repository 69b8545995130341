// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/base/span_text.hpp"
#include "berth/explain/in_time.hpp"

namespace berth::explain {
namespace {

/// As many names as fit the line, and the number of the others.
template <class Ids, class NameOf>
std::string listed(const Ids& ids, const NameOf& name_of) {
  constexpr std::size_t kWidth = 48;
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string name = name_of(ids[i]);
    if (i > 0 && text.size() + name.size() > kWidth) {
      return text + fmt::format(" and {} more", ids.size() - i);
    }
    text += (i == 0 ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

std::string text(const model::InstanceView& instance, std::int64_t now, const PlannedStart& start) {
  const auto job = [&](JobId id) {
    return printable(instance.workload.tables().job_names[id.index()]);
  };
  const auto machine = [&](MachineId id) {
    return printable(instance.cluster.machine_names[id.index()]);
  };
  std::string text =
      start.begins ? fmt::format("  starts now, at {}", start.start)
                   : fmt::format("  starts at {}, {} from now", start.start,
                                 span_text(start.start - now));
  if (start.end) {
    text += fmt::format("; ends at {}, after {}", *start.end, span_text(*start.end - start.start));
  }
  text += "\n  runs on " + listed(start.machines, machine) + "\n";
  if (start.begins) return text;
  if (!start.explained()) {
    return text + "  no job, window or key of its own ends on its GPUs at that second: the plan\n"
                  "  chose the start, or a quota, a resource or a rule holds it\n";
  }
  text += "  a second earlier each of these would refuse it there:\n";
  if (start.not_before) text += fmt::format("    not_before: {}\n", start.start);
  if (!start.after.empty()) {
    text += "    after: it must wait for the end of " + listed(start.after, job) + "\n";
  }
  if (!start.leave.empty()) text += "    GPUs that it takes over from " + listed(start.leave, job) + "\n";
  if (!start.open.empty()) {
    text += "    a window that ends on " + listed(start.open, machine) + "\n";
  }
  return text;
}

}  // namespace berth::explain
