// SPDX-License-Identifier: MIT
// Connects a pump, an HTTP/2 session and the exchanges. Every event ends in settle(), at the end
// of the turn, so that related output leaves together, and nothing is reported from inside a call.
#include "client/wire/h2_connection.hpp"

#include <algorithm>
#include <utility>

#include "h1/request_writer.hpp"
#include "http/uri/url_parts.hpp"
#include "skua/body_writer.hpp"

namespace skua::client {
namespace {

constexpr std::size_t written_at_once_bytes = 64 * 1024;
constexpr std::size_t min_window_bytes = 16 * 1024;
/// A server that stays silent this long until a request is given up may be gone. TCP would take
/// 15 minutes to notice, and every request until then would fail.
constexpr Duration longest_silence = 3s;

h2::Options connection_options(const h1::ResponseLimits& limits,
                               std::size_t stream_bytes) noexcept {
  h2::Options options = h2::client_options();
  options.stream_window_bytes = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(stream_bytes, min_window_bytes, h2::max_window_bytes));
  options.head = {.target_bytes = 0,
                  .field_line_bytes = limits.head.field_line_bytes,
                  .list_bytes = limits.head.head_bytes,
                  .fields = limits.head.fields};
  options.trailers = {.target_bytes = 0,
                      .field_line_bytes = limits.body.trailer_bytes,
                      .list_bytes = limits.body.trailer_bytes,
                      .fields = limits.body.trailer_fields};
  options.interim_responses = limits.interim_responses;
  options.interim_bytes =
      static_cast<std::uint32_t>(std::min<std::size_t>(limits.interim_bytes, 0xffff'ffffU));
  return options;
}

ClientStream& exchange_of(h2::Stream& stream) noexcept {
  return *static_cast<ClientStream*>(stream.context);
}

std::string_view scheme_of(const Url& url) noexcept {
  return http::scheme_port(url.scheme()) == http::scheme_port("https") ? "https" : "http";
}

}  // namespace

H2Connection::H2Connection(std::shared_ptr<void> owner, loop::Loop& loop, Pool& pool,
                           net::OutputQueue::Blocks& blocks, HeadBudget& heads,
                           net::HeldStream stream, const h1::ResponseLimits& limits,
                           std::size_t stream_bytes)
    : owner_(std::move(owner)),
      loop_(loop),
      pool_(pool),
      blocks_(blocks),
      heads_(heads),
      pump_(static_cast<net::StreamPumpUser&>(*this), loop, blocks),
      max_content_bytes_(limits.body.body_bytes),
      session_(connection_options(limits, stream_bytes), *this, workspace_, loop.now()) {
  workspace_.expanded_bytes = &loop.backend().taken_bytes();
  pump_.take(std::move(stream));  // nothing is thrown from here on
  pump_.set_receiving(true);
  settle_later();
}

H2Connection::~H2Connection() { SKUA_ASSERT(exchanges_.empty()); }

// Requests ----------------------------------------------------------------------------------------

std::size_t H2Connection::capacity() const noexcept {
  if (state_ != State::Open || !can_send()) return 0;
  return session_.room() + exchange_count_;
}

HttpConnection::Tunnels H2Connection::tunnels() const noexcept {
  if (session_.permits_extended_connect() || state_ != State::Open) return Tunnels::Extended;
  return session_.has_peer_settings() ? Tunnels::None : Tunnels::Unknown;
}

Result<ExchangePointer> H2Connection::begin(const OutgoingRequest& request) {
  const bool is_tunnel = !request.protocol.empty();
  if (request.method == Method::Connect && !is_tunnel) {
    return Error(Errc::Unsupported, "HTTP/2: CONNECT");
  }
  h1::RequestHead head = head_of(request);
  if (is_tunnel) head.method = Method::Get;  // RFC 8441 §4: its target is a path, too
  // The absolute form is for proxies, which are spoken to in HTTP/1.
  if (head.form != h1::TargetForm::Asterisk) head.form = h1::TargetForm::Origin;
  const Result<std::string> host = h1::request_host(head, request.url, request.fields);
  if (!host) return host.error();
  if (capacity() <= exchange_count_) return Error(Errc::Closed, "HTTP/2");

  const bool has_content = request.content.kind() != Body::Kind::None &&
                           (request.content.stream() != nullptr || head.length_bytes != 0);
  FieldLines fields = request.fields;
  // RFC 9110 §10.1.1: no expectation without content.
  if (!has_content) fields.remove("Expect");
  const std::string path = h1::request_target(head, request.url);
  if (request.shown != nullptr) {
    request.shown->assign(h1::method_name(head)).append(" ").append(path);
    request.shown->append(" HTTP/2\r\nhost: ").append(*host).append("\r\n");
  }
  auto exchange = std::make_unique<ClientStream>(*this, blocks_, loop_.now(), max_content_bytes_);
  h2::Stream* const stream = session_.request({.method = request.method,
                                               .other_method = request.other_method,
                                               .scheme = scheme_of(request.url),
                                               .authority = *host,
                                               .path = path,
                                               .protocol = request.protocol,
                                               .length_bytes = h1::content_length_to_send(head),
                                               .fields = fields.wire(),
                                               .shown = request.shown},
                                              has_content || is_tunnel, exchange.get());
  if (stream == nullptr) return Error(Errc::Closed, "HTTP/2");
  exchanges_.push_back(*exchange);
  ++exchange_count_;
  if (!unanswered_since_) unanswered_since_ = loop_.now();
  ExchangePointer begun(exchange.release());
  if (is_tunnel) {
    exchange_of(*stream).start_tunnel(*stream);
  } else {
    exchange_of(*stream).start(*stream, has_content ? Body(request.content) : Body(),
                               request.expects_continue);
  }
  settle_later();
  return begun;
}

void H2Connection::forget(ClientStream& exchange, bool is_broken_off) noexcept {
  if (!is_broken_off) {
    unanswered_since_.reset();
  } else if (unanswered_since_ && loop_.now() - *unanswered_since_ >= longest_silence) {
    retire();
  }
  exchange.unlink();
  --exchange_count_;
  const std::unique_ptr<ClientStream> ended(&exchange);
  settle_later();
}

// From the session --------------------------------------------------------------------------------

void H2Connection::on_response(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> head) {
  exchange_of(stream).take_head(std::move(head));
}

void H2Connection::on_data(h2::Stream& stream, std::string_view data) {
  exchange_of(stream).take_data(data);
}

void H2Connection::on_end(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> trailers) {
  exchange_of(stream).take_end(std::move(trailers));
}

void H2Connection::on_failure(h2::Stream& stream, const h2::StreamFailure& failure) {
  exchange_of(stream).fail(failure);
}

void H2Connection::on_goaway(h2::ErrorCode) { retire(); }

void H2Connection::on_room() {
  has_more_room_ = true;
  if (session_.has_peer_settings()) learned_.wake_all();
  settle_later();
}

h2::BodyRead H2Connection::read_body(h2::Stream& stream, std::size_t max_bytes) {
  return exchange_of(stream).read_body(max_bytes);
}

void H2Connection::append(std::string_view bytes) {
  pump_.output().append(bytes);
  written_bytes_ += bytes.size();
}

void H2Connection::append_data(h2::Stream& stream, std::string_view head, std::size_t bytes) {
  written_bytes_ += head.size() + bytes;
  exchange_of(stream).write_data(pump_.output(), head, bytes);
}

// The stream --------------------------------------------------------------------------------------

void H2Connection::fail(Error error) noexcept {
  pump_.cut_off();
  send_failure_ = end_ = error;
  retire();
  session_.lose(error);
  settle_later();
}

void H2Connection::settle() {
  // One exchange's producer may begin or end others, and itself.
  while (!news_.empty()) {
    ClientStream& exchange = news_.front().stream;
    if (exchange.can_advance()) {
      exchange.advance();
    } else {
      exchange.news().unlink();
    }
  }
  talk();
  if (session_.is_over()) {
    retire();
    session_.lose(Error(Errc::Closed, "HTTP/2"));
  }
  const bool is_told = std::exchange(has_more_room_, false);
  if (state_ == State::Retired && exchanges_.empty() && !is_leased()) return close();
  if (is_told && capacity() != 0) pool_.capacity_grew(*this);
}

void H2Connection::talk() {
  if (!can_send()) return;
  pump_.flush_while([this] {
    const std::uint64_t before = written_bytes_;
    const bool has_room = pump_.output().pressure_bytes() < written_at_once_bytes;
    if (has_room && session_.wants_write()) session_.write(written_at_once_bytes);
    return written_bytes_ != before;
  });
}

void H2Connection::on_sent(std::uint64_t count) {
  sent_bytes_ += count;
  sent_at_ = loop_.now();
  while (!unsent_.empty() && unsent_.front().stream.ends_at() <= sent_bytes_) {
    ClientStream& exchange = unsent_.front().stream;
    exchange.unsent().unlink();
    exchange.note_progress();
  }
}

void H2Connection::on_receive(std::span<char> bytes) {
  if (end_) return;
  unanswered_since_.reset();
  if (exchange_count_ != 0) unanswered_since_ = loop_.now();
  settle_later();
  session_.receive({bytes.data(), bytes.size()}, loop_.now());
}

// The end -----------------------------------------------------------------------------------------

void H2Connection::retire() noexcept {
  if (state_ == State::Open) state_ = State::Retired;
  learned_.wake_all();
}

void H2Connection::on_receive_end(Error error) {
  end_ = error;
  retire();
  const Error closed = error.code() != Errc::None ? error : Error(Errc::Closed, "HTTP/2");
  session_.lose(send_failure_.value_or(closed));
}

// Responses may still arrive, e.g. 413 for content that the server refused to read.
void H2Connection::on_send_failed(Error error) {
  send_failure_ = error;
  retire();
  base::IntrusiveList<ClientStream::Node> making;
  exchanges_.for_each([&making](ClientStream& exchange) {
    if (!exchange.is_making()) return;
    exchange.news().unlink();
    making.push_back(exchange.news());
  });
  while (!making.empty()) {  // a producer that is dropped may end other exchanges
    ClientStream& exchange = making.front().stream;
    exchange.news().unlink();
    call(exchange);
    exchange.stop_sending();
  }
  settle_later();
}

void H2Connection::close() {
  if (!pump_.is_open()) return;
  if (!exchanges_.empty()) return retire();
  session_.finish_shut_down();
  pump_.guarded([this] { talk(); });  // without memory, it closes without GOAWAY
  pump_.close();
}

void H2Connection::on_closed() { const auto self = pool_.remove(*this); }

}  // namespace skua::client
