// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/answer.hpp"

namespace skua::testing {

/// Translates HTTP/1 text to HTTP/2 frames and back, without a socket. Each request becomes a
/// stream, and responses are returned in the order of the requests. A request with an Upgrade field
/// becomes an extended CONNECT (RFC 8441) and must be the last. The server may send as much of a
/// response as a stream's initial window allows, and more only while the test reads it.
class Http2Client {
 public:
  Http2Client() = default;
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;
  virtual ~Http2Client() = default;

  /// Takes consecutive HTTP/1 requests in pieces of any size. Connection and Transfer-Encoding
  /// fields are dropped.
  virtual void say(std::string_view text) = 0;
  /// Takes frames from the server.
  virtual void receive(std::string_view bytes) = 0;
  /// Returns frames to send, as far as the server's windows allow.
  virtual std::string take_output() = 0;
  /// Reports whether take_output() has returned all content.
  [[nodiscard]] virtual bool is_all_sent() const = 0;
  /// Reports whether the server's SETTINGS have arrived.
  [[nodiscard]] virtual bool has_settings() const = 0;
  /// Reports whether the next response has begun to arrive, or its stream has ended.
  [[nodiscard]] virtual bool has_news() const = 0;

  enum class Reading : unsigned char { None, Next, All };
  /// Chooses the responses for which the server's windows are opened.
  virtual void read(Reading which) = 0;

  enum class Next : unsigned char { Waits, Whole, Broken };
  /// Returns the state of the next response, interim ones included. Skips a broken response.
  virtual Next next() = 0;
  /// Takes the next response, which must be whole.
  virtual Answer take() = 0;
  /// Reports whether the response to a request with `Connection: close` is whole or broken.
  [[nodiscard]] virtual bool has_last() const = 0;
  /// Takes what has arrived of the next response, head included, and lets the server send as much
  /// again.
  virtual std::string take_some() = 0;
  /// Reports whether the next response has ended.
  [[nodiscard]] virtual bool has_ended() const = 0;
  /// Returns all responses not taken yet, as HTTP/1 text.
  virtual std::string take_rest() = 0;
};

std::unique_ptr<Http2Client> make_http2_client(bool is_secure);

}  // namespace skua::testing
