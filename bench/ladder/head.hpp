// SPDX-License-Identifier: MIT
#pragma once

#include "ladder.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ladder {

enum class Method : std::uint8_t { Get, Post, Other };

/// The head of a request, as the rungs from gather on parse it.
struct Head {
  /// A name and its value.
  using Field = std::pair<std::string_view, std::string_view>;

  Method method = Method::Other;
  bool keeps_alive = true;
  bool expects_continue = false;
  std::size_t content_length = 0;
  /// All fields, side by side in the order in which they came. The views point into the text that
  /// was parsed, and dangle when it moves.
  std::vector<Field> fields;

  /// Replaces this head by the one in `text`, which ends with its empty line. Returns Status::Ok,
  /// or why the request is refused.
  Status parse(std::string_view text);

 private:
  Status parse_request_line(std::string_view line);
  Status parse_field(std::string_view line);
  Status obey_fields();
};

/// Returns the size of the head that `text` begins with, or 0 if its end is missing. The first
/// `searched` bytes of it were searched before.
std::size_t head_size(std::string_view text, std::size_t searched);

}  // namespace ladder
