// SPDX-License-Identifier: MIT
// In: a host, and the bytes of a proxy. Out: the bytes to send, until the connection is open.
//
//   client  05 n method...        01 n user n password       05 01 00 type address port
//   proxy   05 method             01 status                  05 code 00 type address port
//
// Answers are short, so they are read one byte at a time.
#include "client/connect/socks5.hpp"

#include <utility>

#include "skua/address.hpp"

namespace skua::client {
namespace {

constexpr char version = 5;
constexpr char authentication_version = 1;  // RFC 1929 §2
constexpr std::uint8_t no_authentication = 0;
constexpr std::uint8_t by_password = 2;
constexpr std::uint8_t no_method = 0xff;
constexpr char connect_command = 1;
constexpr std::size_t port_bytes = 2;

enum class Type : std::uint8_t { Ipv4 = 1, Name = 3, Ipv6 = 4 };

void append_text(std::string& out, std::string_view text) {
  out.push_back(static_cast<char>(text.size()));
  out.append(text);
}

std::string target_of(std::string_view host, std::uint16_t port) {
  std::string target;
  if (const Result<Address> address = Address::parse(host, port)) {
    const bool is_four = address->family() == Address::Family::Ipv4;
    target.push_back(static_cast<char>(is_four ? Type::Ipv4 : Type::Ipv6));
    target.append(text(address->ip_bytes()));
  } else {
    target.push_back(static_cast<char>(Type::Name));
    append_text(target, host);
  }
  target.push_back(static_cast<char>(port >> 8U));
  target.push_back(static_cast<char>(port & 0xffU));
  return target;
}

// RFC 1928 §6
std::string_view refusal_of(std::uint8_t code) noexcept {
  switch (code) {
    case 1: return "it failed, and did not say why";
    case 2: return "its rules do not allow this connection";
    case 3: return "it cannot reach the network";
    case 4: return "it cannot reach the host";
    case 5: return "the host refused its connection";
    case 6: return "the host is too far away from it (TTL expired)";
    case 7: return "it does not support CONNECT";
    case 8: return "it does not support this type of address";
    default: return "it refused with an unknown code";
  }
}

}  // namespace

Socks5::Socks5(std::string_view host, std::uint16_t port, std::string_view user,
               std::string_view password) {
  if (host.empty() || host.size() > max_text_bytes) {
    fail("the name of a host must have 1 to 255 bytes for it");
    return;
  }
  if (user.size() > max_text_bytes || password.size() > max_text_bytes) {
    fail("a name and a password may have at most 255 bytes each for it");
    return;
  }
  target_ = target_of(host, port);
  output_.push_back(version);
  const bool has_credentials = !user.empty() || !password.empty();
  output_.push_back(has_credentials ? 2 : 1);
  output_.push_back(no_authentication);
  if (!has_credentials) return;
  output_.push_back(by_password);
  credentials_.push_back(authentication_version);
  append_text(credentials_, user);
  append_text(credentials_, password);
}

std::string Socks5::take_output() { return std::exchange(output_, {}); }

void Socks5::read(std::string_view input) {
  while (state_ == State::Talking && !input.empty()) {
    received_.push_back(input.front());
    input.remove_prefix(1);
    if (!is_answered()) continue;
    received_.clear();
    break;
  }
  if (state_ != State::Failed && !input.empty()) fail("it sent more than an answer");
}

// Returns whether the answer is complete.
bool Socks5::is_answered() {
  switch (step_) {
    case Step::Method: return take_method();
    case Step::Authentication: return take_authentication();
    case Step::Reply: return take_reply();
  }
  return false;
}

bool Socks5::is_version(std::uint8_t wanted) {
  const std::uint8_t got = octet(0);
  if (got == wanted) return true;
  if (step_ == Step::Method && got == 'H') return fail("it speaks HTTP instead of SOCKS 5");
  if (step_ == Step::Method && (got == 0 || got == 4)) {
    return fail("it speaks SOCKS 4 instead of SOCKS 5");
  }
  return fail("it does not speak SOCKS 5: the version of its answer is " + std::to_string(got));
}

bool Socks5::take_method() {
  if (!is_version(version) || received_.size() < 2) return false;
  const std::uint8_t method = octet(1);
  if (method == no_authentication) {
    ask_for_connection();
    return true;
  }
  if (method == by_password && !credentials_.empty()) {
    step_ = Step::Authentication;
    output_ = credentials_;
    return true;
  }
  if (method != no_method) return fail("it chose a way to authenticate that was not offered");
  return fail(credentials_.empty()
                  ? "it requires authentication, and no name and password are set for it"
                  : "it does not accept a name and password");
}

bool Socks5::take_authentication() {
  if (!is_version(authentication_version) || received_.size() < 2) return false;
  if (octet(1) != 0) return fail("it rejected the name and password");
  ask_for_connection();
  return true;
}

void Socks5::ask_for_connection() {
  step_ = Step::Reply;
  output_ = {version, connect_command, 0};
  output_.append(target_);
}

bool Socks5::take_reply() {
  if (!is_version(version)) return false;
  if (received_.size() == 2 && octet(1) != 0) return refuse(octet(1));
  if (received_.size() < 4) return false;
  std::size_t size_bytes = 4;
  switch (static_cast<Type>(octet(3))) {
    case Type::Ipv4: size_bytes += 4; break;
    case Type::Ipv6: size_bytes += 16; break;
    case Type::Name:
      if (received_.size() < 5) return false;
      size_bytes += 1 + std::size_t{octet(4)};
      break;
    default: return fail("its answer has an unknown type of address");
  }
  if (received_.size() < size_bytes + port_bytes) return false;
  state_ = State::Open;
  return true;
}

bool Socks5::refuse(std::uint8_t code) {
  is_address_bad_ = code == 1 || (code >= 3 && code <= 6) || code == 8;
  std::string why(refusal_of(code));
  if (code > 8) why.append(": ").append(std::to_string(code));
  return fail(std::move(why));
}

bool Socks5::fail(std::string why) {
  state_ = State::Failed;
  why_ = std::move(why);
  output_.clear();
  return false;
}

}  // namespace skua::client
