// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/pool.hpp"
#include "h1/request_writer.hpp"
#include "h1/response_reader.hpp"
#include "http/field.hpp"
#include "loop/clock.hpp"
#include "skua/body.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/url.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// A request as it goes to a connection; what it refers to is needed during the call only.
struct OutgoingRequest {
  Method method = Method::Get;
  const Url& url;
  const FieldLines& fields;
  Body content{};  ///< of Kind::None: no content, not even an empty one
  h1::TargetForm form = h1::TargetForm::Origin;  ///< HTTP/1 only: Absolute to a proxy
  bool expects_continue = false;  ///< the content waits for 100, or Exchange::continue_now()
  std::string* shown = nullptr;   ///< gets the head as it is sent: see ClientRequest::set_heads()
};

/// How many bytes content has, where that is known without making it.
[[nodiscard]] std::optional<std::uint64_t> length_of(const Body& content) noexcept;

/// What HTTP/1 says of a request, less its URL and fields; what it refuses, HTTP/2 refuses, too.
[[nodiscard]] h1::RequestHead head_of(const OutgoingRequest& request) noexcept;

/// One request and its response, on a connection that others may share.
///
/// Who has it asks read() for one event after the other, and waits for changed() where that has
/// none. Nothing of it is told from inside a call.
class Exchange {
 public:
  /// Data is valid until the next call of read() or end().
  struct Step {
    h1::ResponseEvent event = h1::ResponseEvent::NeedMore;
    std::string_view data{};
  };

  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// The next event of the response: the rules of h1::ResponseReader::read, but for Failed, which
  /// is an error. Data that was told before counts as taken: the server may send as much again.
  ///
  /// Ends with: what broke the rules or the connection; Closed where it ended before the response
  ///            did; what the producer of the content has thrown comes out of here.
  virtual Result<Step> read() = 0;
  /// Woken whenever read() may have something, and whenever progress() has changed.
  [[nodiscard]] virtual skua::detail::WaiterList& changed() noexcept = 0;
  /// When bytes of this exchange last went either way.
  [[nodiscard]] virtual loop::Instant progress() const noexcept = 0;

  /// Of the response that Interim or Head has told; an interim one until the next read().
  [[nodiscard]] virtual const http::Head& head() const noexcept = 0;
  /// After Complete.
  [[nodiscard]] virtual const http::Head& trailers() const noexcept = 0;
  /// Whether the server has sent a byte in answer to it.
  [[nodiscard]] virtual bool has_begun() const noexcept = 0;
  /// Whether the server has said that it did not look at it: then it may be repeated, whatever its
  /// method. RFC 9113 §8.7
  [[nodiscard]] virtual bool is_unprocessed() const noexcept = 0;
  /// Whether nothing of the content is left to be sent.
  [[nodiscard]] virtual bool is_all_sent() const noexcept = 0;
  /// Bytes of the content that the connection has taken.
  [[nodiscard]] virtual std::uint64_t sent_bytes() const noexcept = 0;
  /// Sends the content although nobody has asked for it.
  virtual void continue_now() = 0;

  /// The last call: an exchange that is not complete is broken off.
  virtual void end() noexcept = 0;

 protected:
  Exchange() = default;
  ~Exchange() = default;
};

struct EndExchange {
  void operator()(Exchange* exchange) const noexcept { exchange->end(); }
};
using ExchangePointer = std::unique_ptr<Exchange, EndExchange>;

/// exchange.read(), but an Exception that comes out of the producer is an error where it is ours.
Result<Exchange::Step> read_step(Exchange& exchange, bool is_producer_ours);

/// A connection that speaks HTTP.
class HttpConnection : public PooledConnection {
 public:
  /// Begins an exchange, for who has a lease; once per lease. It ends before the lease does.
  ///
  /// Ends with: what h1::append_request_head refuses; Closed where the connection has no room after
  ///            all: another one has to be found.
  virtual Result<ExchangePointer> begin(const OutgoingRequest& request) = 0;
};

}  // namespace skua::client
