// SPDX-License-Identifier: MIT
// In: the arguments of a command. Out: an array of bulk strings.
#include "skua/redis_command.hpp"

#include <charconv>
#include <utility>

#include "base/base_encoding.hpp"
#include "crypto/sha1.hpp"
#include "resp/number.hpp"

namespace skua::redis {

void Arguments::add_text(std::string_view text) {
  bytes_.append(1, '$').append(std::to_string(text.size())).append("\r\n");
  bytes_.append(text).append("\r\n");
  ++count_;
}

void Arguments::add_double(double number) { add_text(resp::double_text(number)); }

Arguments& Arguments::add(const Arguments& others) {
  bytes_.append(others.bytes_);
  count_ += others.count_;
  return *this;
}

std::string_view Arguments::operator[](std::size_t index) const noexcept {
  std::string_view rest = bytes_;
  for (std::size_t at = 0; at < count_; ++at) {
    const std::size_t end = rest.find('\r');
    std::size_t size = 0;
    std::from_chars(rest.data() + 1, rest.data() + end, size);
    if (at == index) return rest.substr(end + 2, size);
    rest.remove_prefix(end + 2 + size + 2);
  }
  return {};
}

void Command::write(std::string& out) const {
  out.append(1, '*').append(std::to_string(arguments_.size())).append("\r\n");
  out.append(arguments_.bytes());
}

Script::Script(std::string text) : text_(std::move(text)), sha_(hex::encode(crypto::sha1(text_))) {}

}  // namespace skua::redis
