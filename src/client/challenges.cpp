// SPDX-License-Identifier: MIT
// In: a response's head. Out: its challenges.
#include "client/challenges.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "skua/credentials.hpp"

namespace skua::client {

std::vector<std::string_view> values_of(const http::Head& head, std::string_view name) {
  std::vector<std::string_view> values;
  for (const http::FieldLine& line : head.fields) {
    if (ascii::equals_ignoring_case(head.name(line), name)) values.push_back(head.value(line));
  }
  return values;
}

bool offers_basic(std::span<const std::string_view> fields) {
  return std::ranges::any_of(fields, [](std::string_view field) {
    const auto challenges = parse_challenges(field);
    return challenges && std::ranges::any_of(*challenges, [](const Challenge& challenge) {
             return challenge.is("Basic");
           });
  });
}

}  // namespace skua::client
