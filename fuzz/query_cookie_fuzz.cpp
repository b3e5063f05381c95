// SPDX-License-Identifier: MIT
// In: a query string or a Cookie field, and a name to find. Checked: reading stays within the text,
// decoding never grows it, and both ways of comparing agree; anything that set_cookie accepts is
// one field value with one cookie.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "http/cookie/cookie.hpp"
#include "http/uri/query.hpp"
#include "skua/response.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

std::string decode(std::string_view encoded) {
  std::vector<char> out(encoded.size());
  const std::size_t size = skua::http::decode_form(encoded, out.data());
  check(size <= encoded.size());
  return {out.data(), size};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> exact(data, data + size);
  const std::string_view all(exact.data(), exact.size());
  const std::size_t line = all.find('\n');
  const std::string_view name = all.substr(0, line);
  const std::string_view text = line == all.npos ? std::string_view{} : all.substr(line + 1);

  std::string_view rest = text;
  while (const auto pair = skua::http::take_pair(rest)) {
    check(rest.size() < text.size());
    const std::string decoded = decode(pair->name);
    check(skua::http::decodes_to(pair->name, decoded));
    check(skua::http::decodes_to(pair->value, decode(pair->value)));
    check(skua::http::decodes_to(pair->name, name) == (decoded == name));
    if (!skua::http::is_encoded(pair->name)) check(decoded == pair->name);
  }
  if (const auto value = skua::http::find_cookie(text, name)) {
    check(value->empty() || (value->data() >= text.data() &&
                             value->data() + value->size() <= text.data() + text.size()));
    check(value->find(';') == value->npos);
  }
  try {
    skua::Response response;
    response.cookie(name, text);
    const std::string_view wire = response.lines().wire();
    check(wire.find_first_of("\r\n") == wire.size() - 2);
    check(skua::http::find_cookie(wire.substr(12, wire.size() - 14), name) == text);
  } catch (const std::invalid_argument&) {
  }
  try {
    skua::Response response;
    response.header(name, text).status(skua::Status::Ok);
    response.body("x", text);
    const std::string_view wire = response.lines().wire();
    std::size_t lines = 0;
    for (std::size_t at = wire.find("\r\n"); at != wire.npos; at = wire.find("\r\n", at + 1))
      ++lines;
    check(lines <= 2 && wire.find('\0') == wire.npos);
    if (lines != 0) check(wire.ends_with("\r\n"));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
