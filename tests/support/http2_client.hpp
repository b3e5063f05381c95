// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/answer.hpp"

namespace skua::testing {

/// Speaks HTTP/2 for a test that speaks HTTP/1, without a socket: requests as text in, frames out,
/// and back. Every request becomes a stream, its responses are told in the order of the requests.
/// One with an Upgrade becomes an extended CONNECT (RFC 8441), and is the last. The server may send
/// as much of a response as a stream's first window allows, and more only while the test reads it.
class Http2Client {
 public:
  Http2Client() = default;
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;
  virtual ~Http2Client() = default;

  /// Requests of HTTP/1, in pieces of any size, one behind the other. Connection and
  /// Transfer-Encoding are left out.
  virtual void say(std::string_view text) = 0;
  /// Frames of the server.
  virtual void receive(std::string_view bytes) = 0;
  /// Frames to be sent, as far as the server's windows allow.
  virtual std::string take_output() = 0;
  /// Whether all that was said has been in an output.
  [[nodiscard]] virtual bool is_all_sent() const = 0;
  /// Whether the server's SETTINGS have come.
  [[nodiscard]] virtual bool has_settings() const = 0;
  /// Whether anything has come of the next response, or its stream has ended.
  [[nodiscard]] virtual bool has_news() const = 0;

  enum class Reading : unsigned char { None, Next, All };
  /// For which responses the server's windows are opened.
  virtual void read(Reading which) = 0;

  enum class Next : unsigned char { Waits, Whole, Broken };
  /// How the next response stands, a 100 (Continue) too. One that is broken is passed over.
  virtual Next next() = 0;
  /// Takes it, where it is whole.
  virtual Answer take() = 0;
  /// Whether a response has come, or broken off, to a request that asked for `Connection: close`.
  [[nodiscard]] virtual bool has_last() const = 0;
  /// What has come of the next response and was not taken, its head included; the server may send
  /// as much again.
  virtual std::string take_some() = 0;
  /// Whether no more will come of it.
  [[nodiscard]] virtual bool has_ended() const = 0;
  /// What has come of the responses that were not taken, as HTTP/1 would show it.
  virtual std::string take_rest() = 0;
};

std::unique_ptr<Http2Client> make_http2_client(bool is_secure);

}  // namespace skua::testing
