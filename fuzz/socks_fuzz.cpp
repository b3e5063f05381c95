// SPDX-License-Identifier: MIT
// In: a seed for splits; a host, a user and a password, each on a line; the bytes of a SOCKS proxy.
// Checked: the conversation ends where a slow and simple reading of RFC 1928 ends it, however its
// bytes are split, and what is sent is exactly what that asks for.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/connect/socks5.hpp"
#include "skua/address.hpp"

namespace {

using skua::client::Socks5;
using State = Socks5::State;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Login {
  std::string_view user;
  std::string_view password;

  [[nodiscard]] bool is_empty() const noexcept { return user.empty() && password.empty(); }
};

std::string octets(std::initializer_list<unsigned> list) {
  std::string text;
  for (const unsigned octet : list) text += static_cast<char>(octet);
  return text;
}

std::string with_length(std::string_view text) {
  return octets({static_cast<unsigned>(text.size())}).append(text);
}

/// The answers of a proxy, as far as they make sense.
struct Reading {
  State end = State::Talking;
  std::size_t read_bytes = 0;          // until it ended
  std::vector<std::size_t> answers{};  // where each of them ends
  bool asks_for_login = false;
  bool asks_for_target = false;
};

class Reader {
 public:
  Reader(std::string_view input, bool has_login) : input_(input), has_login_(has_login) {}

  Reading read() {
    if (!take(5)) return made_;
    const auto method = take();
    if (!method) return made_;
    const bool is_login = *method == 2 && has_login_;
    if (*method != 0 && !is_login) return failed();
    end_answer();
    made_.asks_for_login = is_login;
    if (is_login) {
      if (!take(1) || !take(0)) return made_;
      end_answer();
    }
    made_.asks_for_target = true;
    read_reply();
    return made_;
  }

 private:
  void read_reply() {
    if (!take(5) || !take(0) || !take()) return;
    const auto type = take();
    if (!type) return;
    std::optional<unsigned> size = *type == 1 ? 4U : *type == 4 ? 16U : 0U;
    if (*type == 3) size = take();
    if (!size) return;
    if (*size == 0 && *type != 3) {
      failed();
      return;
    }
    for (unsigned i = 0; i < *size + 2; ++i) {
      if (!take()) return;
    }
    end_answer();
    made_.end = made_.read_bytes < input_.size() ? State::Failed : State::Open;
  }

  std::optional<unsigned> take() {
    if (made_.read_bytes == input_.size()) return std::nullopt;
    return static_cast<unsigned char>(input_[made_.read_bytes++]);
  }
  // Fails unless the next octet, if there is one, is this.
  bool take(unsigned wanted) {
    const auto got = take();
    if (got && *got != wanted) failed();
    return got == wanted;
  }
  Reading& failed() {
    made_.end = State::Failed;
    return made_;
  }
  void end_answer() { made_.answers.push_back(made_.read_bytes); }

  std::string_view input_;
  bool has_login_;
  Reading made_;
};

std::string target_of(std::string_view host) {
  const auto address = skua::Address::parse(host, 443);
  std::string text = octets({5, 1, 0});
  if (!address) return text.append(octets({3})).append(with_length(host)).append(octets({1, 187}));
  const bool is_four = address->family() == skua::Address::Family::Ipv4;
  text += octets({is_four ? 1U : 4U});
  for (const auto octet : address->ip_bytes()) text += octets({static_cast<unsigned>(octet)});
  return text.append(octets({1, 187}));
}

std::string greeting_of(const Login& login) {
  return login.is_empty() ? octets({5, 1, 0}) : octets({5, 2, 0, 2});
}

void check_end(const Socks5& dialogue, State end) {
  check(dialogue.state() == end);
  check(dialogue.why().empty() == (end != State::Failed));
  check(!dialogue.may_try_another_address() || end == State::Failed);
}

void talk_bytewise(std::string_view host, const Login& login, std::string_view input) {
  const Reading wanted = Reader(input, !login.is_empty()).read();
  Socks5 dialogue(host, 443, login.user, login.password);
  std::string sent = dialogue.take_output();
  for (const char c : input) {
    dialogue.read({&c, 1});
    sent += dialogue.take_output();
  }
  check_end(dialogue, wanted.end);
  std::string expected = greeting_of(login);
  if (wanted.asks_for_login) {
    expected.append(octets({1}))
        .append(with_length(login.user))
        .append(with_length(login.password));
  }
  if (wanted.asks_for_target) expected += target_of(host);
  check(sent == expected && sent.size() <= Socks5::max_output_bytes);
}

// A piece that has the end of an answer inside is more than the proxy may have sent by then.
void talk_in_pieces(std::string_view host, const Login& login, std::string_view input,
                    std::uint32_t seed) {
  const Reading wanted = Reader(input, !login.is_empty()).read();
  Socks5 dialogue(host, 443, login.user, login.password);
  State end = wanted.end;
  for (std::size_t at = 0; at < input.size();) {
    seed = seed * 1664525U + 1013904223U;
    const std::size_t piece = std::min<std::size_t>(input.size() - at, 1 + (seed >> 29U));
    const std::string exact(input.substr(at, piece));
    dialogue.read(exact);
    const bool is_too_much = std::ranges::any_of(
        wanted.answers, [&](std::size_t answer) { return at < answer && answer < at + piece; });
    if (is_too_much) end = State::Failed;
    static_cast<void>(dialogue.take_output());
    at += piece;
  }
  check_end(dialogue, end);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto take_line = [&rest] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
  };
  const std::string_view host = take_line();
  const Login login{take_line(), take_line()};
  constexpr std::size_t longest = Socks5::max_text_bytes;
  if (host.empty() || host.size() > longest || login.user.size() > longest ||
      login.password.size() > longest) {
    Socks5 dialogue(host, 443, login.user, login.password);
    dialogue.read(rest);
    check_end(dialogue, State::Failed);
    check(dialogue.take_output().empty());
    return 0;
  }
  talk_bytewise(host, login, rest);
  talk_in_pieces(host, login, rest, data[0]);
  return 0;
}
