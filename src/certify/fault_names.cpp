// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/check.hpp"

namespace berth::certify {

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::missing_entry:
      return "missing_entry";
    case FaultKind::wrong_objective_kind:
      return "wrong_objective_kind";
    case FaultKind::other_instance:
      return "other_instance";
    case FaultKind::unknown_job:
      return "unknown_job";
    case FaultKind::repeated_job:
      return "repeated_job";
    case FaultKind::lost_job:
      return "lost_job";
    case FaultKind::pinned_job:
      return "pinned_job";
    case FaultKind::bad_start:
      return "bad_start";
    case FaultKind::unknown_shape:
      return "unknown_shape";
    case FaultKind::wrong_amounts:
      return "wrong_amounts";
    case FaultKind::broken_slice:
      return "broken_slice";
    case FaultKind::split_gang:
      return "split_gang";
    case FaultKind::unknown_machine:
      return "unknown_machine";
    case FaultKind::machine_not_up:
      return "machine_not_up";
    case FaultKind::wrong_type:
      return "wrong_type";
    case FaultKind::mixed_types:
      return "mixed_types";
    case FaultKind::device_out_of_range:
      return "device_out_of_range";
    case FaultKind::repeated_device:
      return "repeated_device";
    case FaultKind::device_oversubscribed:
      return "device_oversubscribed";
    case FaultKind::machine_oversubscribed:
      return "machine_oversubscribed";
    case FaultKind::domain_violated:
      return "domain_violated";
    case FaultKind::too_many_together:
      return "too_many_together";
    case FaultKind::too_few_domains:
      return "too_few_domains";
    case FaultKind::kept_apart:
      return "kept_apart";
    case FaultKind::quota_exceeded:
      return "quota_exceeded";
    case FaultKind::limit_exceeded:
      return "limit_exceeded";
    case FaultKind::wrong_required_missing:
      return "wrong_required_missing";
    case FaultKind::negative_price:
      return "negative_price";
    case FaultKind::bad_certificate:
      return "bad_certificate";
    case FaultKind::incomplete_tree:
      return "incomplete_tree";
    case FaultKind::wrong_class:
      return "wrong_class";
    case FaultKind::wrong_objective:
      return "wrong_objective";
    case FaultKind::bound_too_low:
      return "bound_too_low";
    case FaultKind::wrong_bound:
      return "wrong_bound";
    case FaultKind::wrong_gap_parts:
      return "wrong_gap_parts";
    case FaultKind::wrong_gap:
      return "wrong_gap";
    case FaultKind::wrong_count:
      return "wrong_count";
    case FaultKind::wrong_plan_digest:
      return "wrong_plan_digest";
    case FaultKind::wrong_proof_digest:
      return "wrong_proof_digest";
  }
  return "unknown";
}

}  // namespace berth::certify
