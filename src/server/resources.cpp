// SPDX-License-Identifier: MIT
// The memory and state shared by the connections of one thread.
#include "server/resources.hpp"

#include <algorithm>
#include <span>

namespace skua::server {
namespace {

constexpr std::size_t usual_path_bytes = 8 * 1024;
constexpr std::size_t kept_blocks = 256;
constexpr std::size_t kept_inboxes = 64;
constexpr std::size_t kept_exchanges = 64;
constexpr std::size_t kept_h2_exchanges = 256;
constexpr std::size_t kept_inbox_bytes = 64 * 1024;
/// An estimate of the memory of a request that is not kept for the next one, with the frames of its
/// handler. The allocator has it back, and the system once the loop is calm.
constexpr std::size_t usual_request_bytes = 16 * 1024;

void shrink(std::string& text) {
  text.clear();
  if (text.capacity() > kept_inbox_bytes) text.shrink_to_fit();
}

template <class T>
std::unique_ptr<T> take_last(std::vector<std::unique_ptr<T>>& kept) noexcept {
  std::unique_ptr<T> last = std::move(kept.back());
  kept.pop_back();
  return last;
}

}  // namespace

void WorkerCounters::add_to(Counters& sum) const noexcept {
  const std::uint64_t gone = closed;  // read before `accepted`, which it never exceeds
  const std::uint64_t come = accepted;
  sum.connections_accepted += come;
  sum.connections_open += come - gone;
  sum.refused_by_ip_filter += refused_by_ip_filter;
  sum.refused_by_callback += refused_by_callback;
  sum.failed_accepts += failed_accepts;
  sum.refused_untrusted_proxies += refused_untrusted_proxies;
  sum.refused_proxy_headers += refused_proxy_headers;
  sum.requests += requests;
  sum.responses += responses;
  sum.bytes_received += bytes_received;
  sum.bytes_sent += bytes_sent;
  sum.refused_malformed += refused_malformed;
  sum.refused_too_large += refused_too_large;
  sum.refused_overloaded += refused_overloaded;
  sum.refused_slow += refused_slow;
  sum.handler_failures += handler_failures;
  sum.handlers_cancelled += handlers_cancelled;
  sum.out_of_memory += out_of_memory;
  sum.accept_pauses += accept_pauses;
  const std::uint64_t failed = handshakes_failed;  // read before those that began, as above
  const std::uint64_t completed = handshakes;
  sum.handshakes_failed += failed;
  sum.handshakes += completed;
  sum.handshakes_resumed += handshakes_resumed;
  sum.handshakes_open += handshakes_begun - completed - failed;
  const std::uint64_t http2_gone = http2_ended;
  sum.http2_open += http2_begun - http2_gone;
  const std::uint64_t websockets_gone = websockets_ended;
  sum.websockets_open += websockets_begun - websockets_gone;
}

h1::HeadLimits head_limits(const Limits& limits) noexcept {
  return {.target_bytes = limits.target_bytes,
          .field_line_bytes = limits.field_line_bytes,
          .head_bytes = limits.head_bytes,
          .fields = limits.fields};
}

PartialRequest::PartialRequest(const Limits& limits)
    : lines(limits.fields), parser(h1::HeadKind::Request, head_limits(limits), lines) {}

void PartialRequest::reset() {
  shrink(input);
  parser.reset();
}

void PartialRequest::take(const http::Head& parsed, const h1::Framing& framed) {
  head = parsed;
  framing = framed;
  if (parsed.base == input.data()) return;
  input.assign(parsed.base, parsed.size_bytes);
  std::copy(parsed.fields.begin(), parsed.fields.end(), lines.begin());
  head.base = input.data();
  head.fields = std::span(lines).first(parsed.fields.size());
  framing.move({parsed.base, parsed.size_bytes}, input.data());
}

ws::Poster Resources::poster() const {
  return [mailbox = loop.mailbox()](std::function<void()> call) {
    return mailbox->post(std::move(call));
  };
}

Resources::Resources(const Router& served, const ServerOptions& told, loop::Loop& thread_loop,
                     ws::Hub& hub, ContentBudget& budget, std::atomic<std::uint64_t>& ids,
                     ConnectionOwner& connection_owner)
    : router(served),
      options(told),
      loop(thread_loop),
      content_budget(budget),
      connection_ids(ids),
      owner(connection_owner),
      topics(hub, poster()),
      codecs(&topics),
      blocks(kept_blocks),
      lines(told.limits.fields),
      path_scratch(usual_path_bytes),
      parser(h1::HeadKind::Request, head_limits(told.limits), lines),
      date_cache(told.server_name),
      meter(told.metrics != nullptr ? told.metrics->add_thread() : nullptr),
      records_responses(told.hooks.on_response || meter != nullptr) {
  h2_workspace.expanded_bytes = &loop.backend().taken_bytes();
  codecs.inflaters().count_in(loop.backend().taken_bytes());
  inboxes.reserve(kept_inboxes);
  exchanges.reserve(kept_exchanges);
  h2_exchanges.reserve(kept_h2_exchanges);
}

// A proxy reuses its connections: it would lose the requests that it sends while one ends.
Duration Resources::idle_time_under_pressure(const net::Stream& connection) const noexcept {
  const Timeouts& timeouts = options.timeouts;
  if (origins != nullptr && origins->is_proxy(&connection)) return timeouts.idle;
  return std::min(timeouts.idle, timeouts.idle_under_pressure);
}

std::unique_ptr<PartialRequest> Resources::take_inbox() {
  if (inboxes.empty()) return std::make_unique<PartialRequest>(options.limits);
  return take_last(inboxes);
}

void Resources::give_back(std::unique_ptr<PartialRequest> partial_request) noexcept {
  if (inboxes.size() == kept_inboxes) return;
  partial_request->reset();
  inboxes.push_back(std::move(partial_request));
}

std::unique_ptr<H1Exchange> Resources::take_exchange() {
  return exchanges.empty() ? std::make_unique<H1Exchange>(*this) : take_last(exchanges);
}

void Resources::give_back(std::unique_ptr<H1Exchange> exchange) noexcept {
  exchange->reset();
  if (exchanges.size() < kept_exchanges) return exchanges.push_back(std::move(exchange));
  loop.backend().taken_bytes() += usual_request_bytes;
}

std::unique_ptr<ServerStream> Resources::take_h2_exchange() {
  return h2_exchanges.empty() ? std::make_unique<ServerStream>(*this) : take_last(h2_exchanges);
}

void Resources::give_back(std::unique_ptr<ServerStream> exchange) noexcept {
  exchange->reset();
  if (h2_exchanges.size() < kept_h2_exchanges) return h2_exchanges.push_back(std::move(exchange));
  loop.backend().taken_bytes() += usual_request_bytes;
}

}  // namespace skua::server
