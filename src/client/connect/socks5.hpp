// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skua::client {

/// The client's half of a conversation with a SOCKS 5 proxy, without any I/O: the bytes that the
/// proxy sends go in, those to send come out. It asks for one connection (CONNECT), without
/// authentication or by name and password.
///
/// RFC:       1928, 1929
class Socks5 final {
 public:
  enum class State : std::uint8_t { Talking, Open, Failed };

  /// The most bytes that a name, a password or a host may have, and that are ever to be sent.
  static constexpr std::size_t max_text_bytes = 255;
  static constexpr std::size_t max_output_bytes =
      4 + (3 + 2 * max_text_bytes) + (7 + max_text_bytes);

  /// The host is a name that the proxy resolves, or an address, with or without brackets. With user
  /// and password empty, only no authentication is offered. Texts that are too long fail at once.
  Socks5(std::string_view host, std::uint16_t port, std::string_view user,
         std::string_view password);

  /// Takes bytes of the proxy, in pieces of any size. Bytes beyond an answer are a failure, since
  /// the client is next to speak, also once the connection is open.
  void read(std::string_view input);
  /// Returns what is to be sent next; empty if it is the proxy's turn.
  [[nodiscard]] std::string take_output();

  [[nodiscard]] State state() const noexcept { return state_; }
  /// After Failed: what is wrong, as the end of a sentence about the proxy.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// After Failed: whether the proxy might reach another address of the same host.
  [[nodiscard]] bool may_try_another_address() const noexcept { return is_address_bad_; }
  /// Reports whether part of an answer has been read.
  [[nodiscard]] bool is_in_answer() const noexcept { return !received_.empty(); }

 private:
  enum class Step : std::uint8_t { Method, Authentication, Reply };

  [[nodiscard]] bool is_answered();
  [[nodiscard]] bool is_version(std::uint8_t wanted);
  bool take_method();
  bool take_authentication();
  bool take_reply();
  bool refuse(std::uint8_t code);
  bool fail(std::string why);
  void ask_for_connection();
  [[nodiscard]] std::uint8_t octet(std::size_t index) const noexcept {
    return static_cast<std::uint8_t>(received_[index]);
  }

  std::string target_;       // type, address and port, as they are sent
  std::string credentials_;  // the request that has them; empty: none
  std::string output_;
  std::string received_;  // of the current answer
  std::string why_;
  Step step_ = Step::Method;
  State state_ = State::Talking;
  bool is_address_bad_ = false;
};

}  // namespace skua::client
