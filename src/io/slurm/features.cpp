// SPDX-License-Identifier: Apache-2.0
#include "slurm/features.hpp"

#include "words.hpp"

#include <algorithm>

namespace berth::io::slurm {
namespace {

/// Reads `word (op word)*` and calls `has` for every word. One pass for checking and matching.
template <class Has>
class FeatureExpression {
 public:
  FeatureExpression(std::string_view text, const Has& has) : rest_(text), has_(has) {}

  bool read() {
    const bool value = expression();
    if (!rest_.empty()) fault_ = true;
    return value;
  }
  [[nodiscard]] bool fault() const { return fault_; }

 private:
  bool expression() {
    bool value = term();
    while (!fault_ && !rest_.empty() && is_operator(rest_.front())) {
      const bool either = rest_.front() == '|';
      rest_.remove_prefix(1);
      const bool next = term();
      value = either ? value || next : value && next;
    }
    return value;
  }

  bool term() {
    if (rest_.empty()) return fail();
    if (rest_.front() == '(' || rest_.front() == '[') {
      const char close = rest_.front() == '(' ? ')' : ']';
      if (close == ']' && in_brackets_) return fail();
      in_brackets_ = in_brackets_ || close == ']';
      rest_.remove_prefix(1);
      const bool value = expression();
      if (rest_.empty() || rest_.front() != close) return fail();
      rest_.remove_prefix(1);
      if (close == ']') in_brackets_ = false;
      return value;
    }
    const std::size_t end = std::min(rest_.find_first_of("&|,()[]"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (word.empty() || word.find('*') != std::string_view::npos) return fail();
    return has_(word, in_brackets_);
  }

  static bool is_operator(char c) { return c == '&' || c == '|' || c == ','; }
  bool fail() {
    fault_ = true;
    return false;
  }

  std::string_view rest_;
  const Has& has_;
  bool in_brackets_ = false;
  bool fault_ = false;
};

}  // namespace

FeatureConstraint read_features(std::string_view constraint) {
  FeatureConstraint found;
  if (constraint.empty()) return found;
  const auto note = [&](std::string_view word, bool same) {
    if (same) found.same_on_all.emplace_back(word);
    return true;
  };
  FeatureExpression reader(constraint, note);
  reader.read();
  if (reader.fault()) found.fault = "features with counts, or that cannot be read";
  return found;
}

bool satisfies(std::string_view constraint, const std::vector<std::string>& features) {
  if (constraint.empty()) return true;
  const auto has = [&](std::string_view word, bool) {
    return std::ranges::find(features, word) != features.end();
  };
  return FeatureExpression(constraint, has).read();
}

}  // namespace berth::io::slurm
