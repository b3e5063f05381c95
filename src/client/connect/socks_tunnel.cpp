// SPDX-License-Identifier: MIT
// In: a stream to a SOCKS proxy. Out: a stream to an origin. Receives only until the proxy has
// answered: later data is the origin's.
#include "client/connect/socks_tunnel.hpp"

#include <utility>

#include "client/waiting.hpp"

namespace skua::client {

SocksTunnel::SocksTunnel(loop::Loop& loop, net::HeldStream stream, Socks5 dialogue)
    : loop_(loop),
      stream_(std::move(stream)),
      dialogue_(std::move(dialogue)),
      output_(std::make_unique<net::SentText>()) {
  // So that a pending send's bytes stay where they are.
  output_->text.reserve(Socks5::max_output_bytes);
  stream_->listen(*this);
}

SocksTunnel::~SocksTunnel() {
  if (stream_) net::SentText::close(std::move(output_), std::move(stream_));
}

Task<Result<void, Problem>> SocksTunnel::run(std::string step, Duration limit) {
  const loop::Instant began = loop_.now();
  if (dialogue_.state() == Socks5::State::Failed) {
    co_return could_not(step, Error(Errc::ProxyRefused, "proxy"), dialogue_.why());
  }
  stream_->start_receive();
  output_->text.append(dialogue_.take_output());
  send();
  while (!is_over_) {
    const Duration left = limit - (loop_.now() - began);
    if (left <= Duration(0)) co_return timed_out(step, {limit, "ClientTimeouts::head"});
    co_await TimedWait(loop_, changed_, left);
  }
  if (failure_.code() == Errc::None) co_return {};
  co_return why_.empty() ? could_not(step, failure_) : could_not(step, failure_, why_);
}

// on_sent() continues a send that the stream has not taken.
void SocksTunnel::send() {
  while (!is_sending_ && !is_over_ && !is_all_sent()) {
    const net::Slice rest{output_->text.data() + sent_bytes_, output_->text.size() - sent_bytes_};
    const std::size_t taken = stream_->send({&rest, 1});
    sent_bytes_ += taken;
    is_sending_ = taken < rest.size_bytes;
  }
}

void SocksTunnel::on_sent(std::size_t count) {
  sent_bytes_ += count;
  is_sending_ = false;
  guarded([this] { send(); }, [this](Error error) { end_with(error); });
}

// The proxy may still have answered, which says more.
void SocksTunnel::on_send_failed(Error error) { send_failure_ = error; }

void SocksTunnel::on_receive(std::span<char> bytes) {
  guarded([&] { read({bytes.data(), bytes.size()}); }, [this](Error error) { end_with(error); });
}

void SocksTunnel::read(std::string_view input) {
  if (is_over_) return;
  const Error refused(Errc::ProxyRefused, "proxy");
  if (!is_all_sent()) return end_with(refused, "it answered before it was asked");
  dialogue_.read(input);
  if (dialogue_.state() == Socks5::State::Failed) return end_with(refused, dialogue_.why());
  if (dialogue_.state() == Socks5::State::Open) return end_with(Errc::None);
  output_->text.append(dialogue_.take_output());
  send();
}

void SocksTunnel::on_receive_end(Error error) {
  guarded(
      [&] {
        if (is_over_) return;
        const bool is_orderly = error.code() == Errc::None;
        if (send_failure_ && is_orderly) return end_with(*send_failure_);
        if (!is_orderly) return end_with(error);
        end_with(Error(Errc::Closed, "proxy"),
                 dialogue_.is_in_answer() ? "it closed the connection in the middle of its answer"
                                          : "it closed the connection without an answer");
      },
      [this](Error lack) { end_with(lack); });
}

void SocksTunnel::end_with(Error error, std::string why) {
  is_over_ = true;
  failure_ = error;
  why_ = std::move(why);
  stream_->stop_receive();
  changed_.wake_all();
}

}  // namespace skua::client
