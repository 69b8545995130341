// SPDX-License-Identifier: Apache-2.0
#include "berth/base/error.hpp"

#include <utility>

#include "berth/base/printable.hpp"

namespace berth {
namespace {

std::string compose(const InputError::Where& where, const std::string& problem,
                    const std::string& hint) {
  std::string text = where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line);
  if (!text.empty()) text += ": ";
  if (!where.field.empty()) text += where.field + ": ";
  text += problem;
  if (!hint.empty()) text += "; " + hint;
  return printable(text);  // words of files are in it
}

}  // namespace

InputError::InputError(Where where, std::string problem, std::string hint)
    : std::runtime_error(compose(where, problem, hint)),
      where_(std::move(where)),
      problem_(std::move(problem)),
      hint_(std::move(hint)) {}

}  // namespace berth
