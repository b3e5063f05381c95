// SPDX-License-Identifier: MIT
// In: a stream to a proxy. Out: a stream to an origin. Receives only until the proxy has answered:
// later data is the origin's.
#include "client/connect/tunnel.hpp"

#include <utility>

#include "client/waiting.hpp"
#include "h1/request_writer.hpp"
#include "skua/field_lines.hpp"
#include "skua/status.hpp"
#include "skua/url.hpp"

namespace skua::client {
namespace {

// Without credentials, with them, and once more if the nonce was too old.
constexpr unsigned max_requests = 3;
// Read at most to reuse the connection after a 407; beyond this, a new connection is faster.
constexpr std::size_t max_content_bytes = 64_KiB;

std::string text_of(unsigned status) {
  std::string text = "it answered " + std::to_string(status);
  const std::string_view phrase = reason(static_cast<Status>(status));
  return phrase.empty() ? text : text.append(" ").append(phrase);
}

}  // namespace

Tunnel::Tunnel(loop::Loop& loop, net::HeldStream stream, const Origin& origin, ProxyAccess& proxy)
    : loop_(loop), stream_(std::move(stream)), origin_(origin), proxy_(proxy) {
  stream_->listen(*this);
}

Tunnel::~Tunnel() {
  if (!stream_) return;
  if (request_ == nullptr) {
    net::close_detached(std::move(stream_));
  } else {
    net::SentText::close(std::move(request_), std::move(stream_));
  }
}

Task<Result<Tunnel::End, Problem>> Tunnel::run(std::string step, Duration limit) {
  const loop::Instant began = loop_.now();
  do {
    if (const Result<void> asked = ask(); !asked) co_return could_not(step, asked.error());
    while (answer_ == Answer::None) {
      const Duration left = limit - (loop_.now() - began);
      if (left <= Duration(0)) co_return timed_out(step, {limit, "ClientTimeouts::head"});
      co_await TimedWait(loop_, changed_, left);
    }
  } while (answer_ == Answer::AskAgain && requests_ < max_requests);
  if (answer_ == Answer::Open) co_return End::Open;
  if (answer_ == Answer::NewConnection) co_return End::NewConnection;
  if (answer_ == Answer::AskAgain) {
    co_return could_not(step, Error(Errc::ProxyRefused, "proxy"), text_of(reader_.head().status));
  }
  if (why_.empty()) co_return could_not(step, failure_);
  co_return could_not(step, failure_, why_);
}

Result<void> Tunnel::ask() {
  const std::string target = origin_.to_string();
  const Result<Url> url = Url::parse("http://" + target);
  if (!url) return url.error();
  Result<std::string> authorization = proxy_.authorization().field("CONNECT", target, "");
  if (!authorization) return authorization.error();
  authorization_ = *std::move(authorization);
  FieldLines fields;
  if (!authorization_.empty()) fields.add(proxy_authorization.credentials, authorization_);
  std::string head;
  const h1::RequestHead request{.method = Method::Connect, .form = h1::TargetForm::Authority};
  if (auto written = h1::append_request_head(request, *url, fields, head); !written) {
    return written;
  }
  request_ = std::make_unique<net::SentText>(std::move(head));
  sent_bytes_ = 0;
  content_bytes_ = 0;
  is_unauthorized_ = false;
  answer_ = Answer::None;
  ++requests_;
  reader_.start({.method = Method::Connect});
  stream_->start_receive();
  send();
  return {};
}

// on_sent() continues a send that the stream has not taken.
void Tunnel::send() {
  while (!is_all_sent()) {
    const net::Slice rest{request_->text.data() + sent_bytes_, request_->text.size() - sent_bytes_};
    const std::size_t taken = stream_->send({&rest, 1});
    sent_bytes_ += taken;
    if (taken < rest.size_bytes) return;
  }
}

void Tunnel::on_sent(std::size_t count) {
  sent_bytes_ += count;
  guarded([this] { send(); }, [this](Error error) { refuse(error); });
}

// The proxy may still have answered, which says more.
void Tunnel::on_send_failed(Error error) { send_failure_ = error; }

void Tunnel::on_receive(std::span<char> bytes) {
  guarded([&] { read({bytes.data(), bytes.size()}); }, [this](Error error) { refuse(error); });
}

void Tunnel::read(std::string_view input) {
  while (answer_ == Answer::None) {
    const h1::ResponseReader::Step step = reader_.read(input);
    input.remove_prefix(step.consumed_bytes);
    switch (step.event) {
      case h1::ResponseEvent::NeedMore: return;
      case h1::ResponseEvent::Interim: break;
      case h1::ResponseEvent::Head: read_head(); break;
      case h1::ResponseEvent::Data:
        content_bytes_ += step.data.size();
        if (content_bytes_ > max_content_bytes) end_with(Answer::NewConnection);
        break;
      case h1::ResponseEvent::Complete: {
        const bool is_usable = reader_.can_be_reused() && input.empty() && is_all_sent();
        end_with(is_usable ? Answer::AskAgain : Answer::NewConnection);
        break;
      }
      case h1::ResponseEvent::Switched:
        // The client speaks first in a tunnel, so this is not from the origin.
        if (!input.empty() || !is_all_sent()) {
          return refuse(Errc::ProxyRefused, "it sent more than an answer");
        }
        end_with(Answer::Open);
        break;
      case h1::ResponseEvent::Failed: return refuse(reader_.error());
    }
  }
}

void Tunnel::read_head() {
  const unsigned status = reader_.head().status;
  const bool is_unauthorized = status == code(Status::ProxyAuthenticationRequired);
  if (status / 100 != 2 && !is_unauthorized) return refuse(Errc::ProxyRefused, text_of(status));
  const bool may_ask_again = proxy_.authorization().learn(reader_.head(), authorization_);
  if (!is_unauthorized) return;
  if (!may_ask_again) {
    const bool is_known = proxy_.proxy().has_credentials();
    return refuse(Errc::ProxyRefused,
                  text_of(status) + (is_known ? "" : ", and no name and password are set for it"));
  }
  is_unauthorized_ = true;
  const h1::Framing& framing = reader_.framing();
  if (!framing.keep_alive || framing.body == h1::BodyKind::UntilClose) {
    end_with(Answer::NewConnection);
  }
}

void Tunnel::on_receive_end(Error error) {
  guarded([&] { receive_end(error); }, [this](Error lack) { refuse(lack); });
}

void Tunnel::receive_end(Error error) {
  const bool is_orderly = error.code() == Errc::None;
  const bool was_idle = requests_ > 1 && !reader_.has_begun();
  if (is_unauthorized_ || was_idle) return end_with(Answer::NewConnection);
  if (send_failure_ && is_orderly) return refuse(*send_failure_);
  if (!is_orderly) return refuse(error);
  refuse(Error(Errc::Closed, "proxy"), reader_.has_begun()
                                           ? "it closed the connection in the middle of its answer"
                                           : "it closed the connection without an answer");
}

void Tunnel::end_with(Answer answer) {
  answer_ = answer;
  stream_->stop_receive();
  changed_.wake_all();
}

void Tunnel::refuse(Error error, std::string why) {
  failure_ = error;
  why_ = std::move(why);
  end_with(Answer::Refused);
}

}  // namespace skua::client
