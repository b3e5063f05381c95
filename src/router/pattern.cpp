// SPDX-License-Identifier: MIT
// Patterns that come from a configuration: the same checks as at compile time, and an error text
// that leads to the line of the program and to the column of the pattern.
#include "skua/pattern.hpp"

#include <stdexcept>
#include <utility>

namespace skua {
namespace {

using detail::PatternFlaw;

std::string_view sentence(PatternFlaw flaw) noexcept {
  switch (flaw) {
    case PatternFlaw::None: break;
    case PatternFlaw::NoSlash: return "it has to start with a slash";
    case PatternFlaw::UnopenedBrace: return "a closing brace without an opening one";
    case PatternFlaw::UnclosedBrace: return "an opening brace without a closing one";
    case PatternFlaw::PartOfSegment: return "a wildcard has to fill a whole path segment";
    case PatternFlaw::BadName:
      return "the name of a wildcard consists of letters, digits and underscores";
    case PatternFlaw::SameName: return "another wildcard has the same name";
    case PatternFlaw::RestBeforeEnd: return "a {name...} has to be the last segment";
    case PatternFlaw::TooManyWildcards: return "more than 16 wildcards";
    case PatternFlaw::BadCharacter:
      return "a pattern is a decoded path: no '?', '#', '%', '\\' or control characters";
    case PatternFlaw::BadSegment: return "an empty segment or a dot segment";
    case PatternFlaw::BadPrefix: return "a prefix has no wildcard and no slash at its end";
  }
  return "";
}

[[noreturn]] void refuse_pattern(const std::source_location& where, std::string_view pattern,
                                 std::string_view why) {
  std::string text(where.file_name());
  text.append(":").append(std::to_string(where.line())).append(": the pattern \"");
  throw std::invalid_argument(text.append(pattern).append("\"").append(why));
}

void require(const std::source_location& where, std::string_view pattern,
             const detail::PatternCheck& check) {
  if (check.flaw == PatternFlaw::None) return;
  std::string why(", column ");
  refuse_pattern(
      where, pattern,
      why.append(std::to_string(check.column)).append(": ").append(sentence(check.flaw)));
}

}  // namespace

RuntimePattern::RuntimePattern(std::string text, std::source_location where)
    : text_(std::move(text)), where_(where) {
  const detail::PatternCheck check = detail::check_pattern(text_);
  require(where_, text_, check);
  wildcards_ = check.wildcards;
}

void RuntimePattern::require_parameters(std::size_t parameters) const {
  if (parameters == 0 || parameters == wildcards_) return;
  refuse_pattern(where_, text_,
                 " has " + std::to_string(wildcards_) + " wildcards where the handler takes " +
                     std::to_string(parameters) + " path parameters");
}

void RuntimePattern::require_prefix() const { require(where_, text_, detail::check_prefix(text_)); }

}  // namespace skua
