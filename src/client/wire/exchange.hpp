// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/wire/pool.hpp"
#include "h1/request_writer.hpp"
#include "h1/response_reader.hpp"
#include "http/message/field.hpp"
#include "loop/clock.hpp"
#include "net/close_detached.hpp"
#include "skua/address.hpp"
#include "skua/body.hpp"
#include "skua/body_reader.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/tls.hpp"
#include "skua/url.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// A request as passed to a connection; its references need to be valid only during the call.
struct OutgoingRequest {
  Method method = Method::Get;
  std::string_view other_method{};  ///< a token to send in place of the method's name
  std::string_view target{};        ///< in place of the URL's path and query, see h1::RequestHead
  std::string_view protocol{};      ///< with CONNECT, if the connection has Tunnels::Extended
  const Url& url;
  const FieldLines& fields;
  Body content{};                                ///< Kind::None: no content, not even empty content
  h1::TargetForm form = h1::TargetForm::Origin;  ///< HTTP/1 only: Absolute to a proxy
  bool expects_continue = false;  ///< the content waits for 100, or Exchange::continue_now()
  std::string* shown = nullptr;   ///< receives the head as sent; see ClientRequest::on_head()
};

/// Returns the content's length, if it is known without producing the content.
[[nodiscard]] std::optional<std::uint64_t> length_of(const Body& content) noexcept;

/// Returns a request's HTTP/1 head, without URL and fields. HTTP/2 uses it for the same checks.
[[nodiscard]] h1::RequestHead head_of(const OutgoingRequest& request) noexcept;

/// A connection, or a stream of one, that a server has switched to another protocol.
struct SwitchedStream {
  net::HeldStream stream;      ///< idle; listen at once, as bytes may still come
  std::string received{};      ///< what the server has sent since
  std::optional<Error> end{};  ///< how the server's data has ended, if it has
};

class Exchange;
struct EndExchange {
  inline void operator()(Exchange* exchange) const noexcept;
};
using ExchangePointer = std::unique_ptr<Exchange, EndExchange>;

/// One request and its response, on a connection that others may share.
///
/// The owner calls read() for one event after another, and waits for changed() if there is none.
/// No event is reported from inside a call.
class Exchange {
 public:
  /// An event. Its data is valid until the next call of read() or end().
  struct Step {
    h1::ResponseEvent event = h1::ResponseEvent::NeedMore;
    std::string_view data{};
  };

  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Returns the next event of the response, like h1::ResponseReader::read, but Failed is an error.
  /// Data returned before counts as consumed: the server may send as much again.
  ///
  /// Ends with: the protocol or connection error; Closed if the connection ended before the
  ///            response did. Exceptions from the content's producer are rethrown here.
  virtual Result<Step> read() = 0;
  /// Offers further content to `taker` first, while somebody waits after NeedMore. After Last,
  /// read() returns Data without bytes, and the server has to wait until the next NeedMore. An
  /// exchange may offer nothing. Null ends that, as does end().
  virtual void pass_to(skua::detail::ContentTaker* /*taker*/) noexcept {}
  /// Lets the server wait until read() returns NeedMore, if that is possible.
  virtual void pause() noexcept {}
  /// Woken whenever read() may have an event, and whenever bytes of this exchange moved. While
  /// others' bytes are sent before them, progress() changes without that.
  [[nodiscard]] virtual skua::detail::WaiterList& changed() noexcept = 0;
  /// When bytes of this exchange, or those before them on the connection, were last sent or
  /// received.
  [[nodiscard]] virtual loop::Instant progress() const noexcept = 0;

  /// The head that Interim or Head announced; an interim one is valid until the next read().
  [[nodiscard]] virtual const http::Head& head() const noexcept = 0;
  /// Valid after Complete.
  [[nodiscard]] virtual const http::Head& trailers() const noexcept = 0;
  /// Reports whether the server has begun to answer.
  [[nodiscard]] virtual bool has_begun() const noexcept = 0;
  /// Reports whether the server declared the request unprocessed, so that it may be repeated
  /// whatever its method. RFC 9113 §8.7
  [[nodiscard]] virtual bool is_unprocessed() const noexcept = 0;
  /// Reports whether all of the content has been sent.
  [[nodiscard]] virtual bool is_all_sent() const noexcept = 0;
  /// Reports whether more content is to come, and all that was produced so far has been sent.
  [[nodiscard]] virtual bool is_starved() const noexcept = 0;
  /// Bytes of the content that the connection has taken.
  [[nodiscard]] virtual std::uint64_t sent_bytes() const noexcept = 0;
  /// Sends the content without waiting for 100 (Continue).
  virtual void continue_now() = 0;

  /// Takes the connection away after Switched. `self` is this exchange, with its lease: they end
  /// now, or with the stream.
  ///
  /// Ends with: Unsupported unless the whole request was sent.
  virtual Result<SwitchedStream> take_stream(ExchangePointer self, Pool::Lease lease) = 0;

  /// Ends the exchange, breaking it off if it is not complete. Must be the last call.
  virtual void end() noexcept = 0;

 protected:
  Exchange() = default;
  ~Exchange() = default;
};

void EndExchange::operator()(Exchange* exchange) const noexcept { exchange->end(); }

/// Like exchange.read(), but an Exception thrown by a producer of our own is returned as an error.
Result<Exchange::Step> read_step(Exchange& exchange, bool is_producer_ours);

/// The other end of a connection.
struct PeerFacts {
  Address address{};
  std::optional<TlsInfo> tls{};
};

/// A connection that speaks HTTP.
class HttpConnection : public PooledConnection {
 public:
  /// Returns the facts from when the connection was made, which responses share; null if nobody set
  /// them.
  [[nodiscard]] const std::shared_ptr<const PeerFacts>& peer() const noexcept { return peer_; }
  void set_peer(std::shared_ptr<const PeerFacts> peer) noexcept { peer_ = std::move(peer); }

  /// Begins an exchange for the holder of a lease, once per lease. It ends before the lease does.
  ///
  /// Ends with: the errors of h1::append_request_head; Closed if the connection has no room after
  ///            all, so that another one is needed.
  virtual Result<ExchangePointer> begin(const OutgoingRequest& request) = 0;

  /// How a request can turn into a tunnel for another protocol.
  enum class Tunnels : std::uint8_t {
    Unknown,   ///< the server's SETTINGS have not arrived: learned() will be woken
    None,      ///< the server does not permit it
    Upgrade,   ///< a field, which the connection then belongs to. RFC 9110 §7.8
    Extended,  ///< CONNECT with a protocol. RFC 8441
  };
  [[nodiscard]] virtual Tunnels tunnels() const noexcept = 0;
  [[nodiscard]] skua::detail::WaiterList& learned() noexcept { return learned_; }

 protected:
  skua::detail::WaiterList learned_;

 private:
  std::shared_ptr<const PeerFacts> peer_;
};

}  // namespace skua::client
