// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::io {

/// The text is not a plan: not JSON, a field missing or of the wrong kind, a number beyond 64 bits.
class PlanFormatError : public InputError {
 public:
  using InputError::InputError;
};

/// The text of plan.json (docs/formats.md): integers stay integers, doubles are the shortest digits
/// that read back exactly. One job a line.
std::string plan_text(const model::InstanceView& instance, const model::Plan& plan);

/// The same text as it is made, of a plan whose jobs come a few at a time.
class PlanText {
 public:
  /// What comes before the jobs. The instance outlives this. @param plan  its jobs do not count
  PlanText(const model::InstanceView& instance, const model::Plan& plan);
  PlanText(PlanText&&) noexcept;
  ~PlanText();

  /// All that are placed, ascending; the instance has these jobs.
  void add(std::span<const model::JobPlacement> placed);
  /// Then all that wait, ascending.
  void add(std::span<const model::UnplacedJob> waiting);
  void end_placements();  ///< before the jobs that wait; implied by these and by `end`
  void end();
  std::string take();  ///< what was made since the last call

 private:
  struct TextState;
  std::unique_ptr<TextState> state_;
};

/// Written atomically, deflated by suffix. Memory: a few MiB beyond the plan.
void write_plan(const std::string& path, const model::InstanceView& instance,
                const model::Plan& plan);

/// Reads a plan without believing it: whether names exist and figures follow is for the judge.
/// Keys that are not known are passed over. @throws PlanFormatError with the field's path
model::RawPlan parse_plan(std::string text, const std::string& file);
model::RawPlan read_plan(const std::string& path);

/// What of a plan's jobs one `take` of PlanText gave, read as parse_plan reads them.
/// @throws PlanFormatError
std::vector<model::RawPlacement> parse_placements(std::string_view piece, const std::string& file);
std::vector<model::RawUnplacedJob> parse_waiting(std::string_view piece, const std::string& file);

}  // namespace berth::io
