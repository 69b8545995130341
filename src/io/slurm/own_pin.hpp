// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io::slurm {

struct SlurmJob;

/// What `berth apply slurm` set in a waiting job, and what its user had asked for. It is kept in the
/// job's AdminComment, one word beside what others wrote there:
///
///   berth:nodes=c[02-03];asked=c02;range=2-4;start=1795530035;priority=9001/17
///
/// `asked`: the user's own ReqNodeList, `range` the number of nodes, where the pin changed it;
/// `priority`: set and former.
struct OwnPin {
  std::vector<std::string> nodes, asked;
  std::int64_t min_nodes = 0, max_nodes = 0;  ///< 0: NumNodes is as the user set it
  std::int64_t start = 0;                     ///< seconds since 1970; 0: not set
  std::int64_t priority = 0, former_priority = 0;  ///< 0: not set

  [[nodiscard]] bool empty() const { return nodes.empty() && start == 0 && priority == 0; }
};

/// The word for the AdminComment.
std::string pin_text(const OwnPin& pin);

/// The AdminComment with this word in place of an earlier one; an empty word removes it.
std::string with_pin(std::string_view comment, const std::string& word);

/// The pin of an AdminComment; none: Berth set nothing, or the word is damaged.
std::optional<OwnPin> read_pin(std::string_view comment);

/// Gives a waiting job back what its user asked for, and keeps the pin in `job.pin`. What somebody
/// changed since the pin was set stays as it is.
void take_back_pin(SlurmJob& job);

}  // namespace berth::io::slurm
