// SPDX-License-Identifier: MIT
// One request in, one response out, however many exchanges that takes. Each round begins with the
// fields that are to be sent and ends with a head; what follows from that head is decided by rules
// that wait for nothing.
#include "client/fetch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ascii.hpp"
#include "client/decoding.hpp"
#include "client/problem.hpp"
#include "client/redirect.hpp"
#include "client/request_content.hpp"
#include "client/timed_wait.hpp"
#include "client/within.hpp"
#include "skua/url.hpp"

namespace skua::client {
namespace {

using Event = h1::ResponseEvent;

constexpr unsigned most_tries = 3;    // of connections that may have died
constexpr unsigned most_answers = 3;  // to challenges

std::chrono::sys_seconds wall_time() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// RFC 9110 §9.2.2
constexpr bool is_idempotent(Method method) noexcept {
  return method != Method::Post && method != Method::Patch && method != Method::Connect;
}

class Fetch final {
 public:
  Fetch(std::shared_ptr<Core> core, std::unique_ptr<RequestSpec> spec)
      : core_(std::move(core)),
        spec_(std::move(spec)),
        began_(core_->loop.now()),
        method_(spec_->method),
        fields_(spec_->fields),
        credentials_(spec_->credentials) {
    if (spec_->timeout != no_time_limit) deadline_ = began_ + spec_->timeout;
  }

  Task<Outcome<ReceptionPointer>> run();

 private:
  /// What a head leads to.
  enum class Next : std::uint8_t { Answer, Again, Problem };

  std::optional<Problem> read_url();
  Task<Outcome<ReceptionPointer>> exchange();
  Task<Outcome<Pool::Lease>> acquire();
  Task<Result<void>> await_head(Exchange& exchange);
  Result<ExchangePointer> begin(HttpConnection& connection);
  Result<FieldLines> fields(const RequestContent& content);
  void add_usual(FieldLines& lines, std::string_view name, std::string_view value) const;
  Result<void> authorize(FieldLines& lines, const RequestContent& content);
  Result<void> authorize_to_proxy(FieldLines& lines);
  [[nodiscard]] bool is_given(std::string_view name) const noexcept;
  void take_interim(Exchange& exchange);
  void tell_upload(const Exchange& exchange, std::uint64_t& told_bytes) const;
  [[nodiscard]] Duration patience(const Exchange& exchange, loop::Instant all_sent) const noexcept;
  [[nodiscard]] bool may_repeat(const Exchange& exchange, bool is_reused, Error error) const;
  [[nodiscard]] Problem failure(const Exchange& exchange, Error error) const;
  ReceptionPointer receive(Pool::Lease lease, ExchangePointer exchange);
  void store_cookies(const http::Head& head);
  Next next(const http::Head& head);
  bool answers_challenge(const http::Head& head);
  bool answers_proxy(const http::Head& head);
  Next redirect(const http::Head& head);
  [[nodiscard]] std::string step() const { return step_of(method_, url_); }

  const std::shared_ptr<Core> core_;
  const std::unique_ptr<RequestSpec> spec_;
  const loop::Instant began_;
  loop::Instant deadline_ = loop::Instant::max();
  Method method_;
  Url url_;
  FieldLines fields_;  // those that were told, less what redirects have taken away
  std::optional<BasicCredentials> credentials_;
  Origin origin_;
  Proxies::Route route_;
  std::string shown_to_proxy_;  // the field that it was sent last
  ConnectTimes times_;
  ClientTimings timings_;
  std::optional<Problem> problem_{};
  std::optional<std::uint64_t> content_bytes_{};  // where it is known
  unsigned redirects_ = 0;
  unsigned answers_ = 0;
  unsigned proxy_answers_ = 0;
  bool has_content_ = true;  // a redirect may leave it behind
  bool is_sent_ = false;     // some of the content, once
  bool waits_for_continue_ = false;
};

// The URL ----------------------------------------------------------------------------------------

std::optional<Problem> Fetch::read_url() {
  Result<Url> url = Url::parse_lenient(spec_->url);
  if (url && core_->base_url.has_scheme()) url = core_->base_url.resolve(*url);
  const std::string step = "read the URL '" + spec_->url + "'";
  if (!url) return could_not(step, url.error());
  if (url->scheme() != "http" && url->scheme() != "https") {
    return could_not(step, Errc::MalformedUrl, "it has to begin with http:// or https://");
  }
  if (!spec_->query.parameters().empty()) {
    QueryBuilder query(url->query());
    for (const auto& [name, value] : spec_->query.parameters()) query.add(name, value);
    const Result<void> set = url->set_query(query.to_string());
    if (!set) return could_not(step, set.error());
  }
  if (url->has_userinfo()) {
    if (!credentials_) credentials_ = BasicCredentials{url->user(), url->password()};
    static_cast<void>(url->set_userinfo({}));
  }
  url_ = *std::move(url);
  return std::nullopt;
}

Origin origin_of(const Url& url, const ClientOptions& options) {
  Origin origin;
  origin.host = url.hostname();
  origin.port = url.effective_port().value_or(0);
  origin.is_secure = url.scheme() == "https";
  origin.unix_path = options.unix_socket;
  return origin;
}

// The request ------------------------------------------------------------------------------------

bool Fetch::is_given(std::string_view name) const noexcept {
  if (fields_.find(name)) return true;
  return std::any_of(spec_->left_out.begin(), spec_->left_out.end(), [&](const std::string& one) {
    return ascii::equals_ignoring_case(one, name);
  });
}

void Fetch::add_usual(FieldLines& lines, std::string_view name, std::string_view value) const {
  if (!value.empty() && !is_given(name)) lines.add(name, value);
}

Result<FieldLines> Fetch::fields(const RequestContent& content) {
  FieldLines lines;
  add_usual(lines, "User-Agent", core_->options.user_agent);
  add_usual(lines, "Accept", "*/*");
  // Of a part of what is coded nothing can be decoded.
  if (spec_->decompress && !fields_.find("Range")) {
    add_usual(lines, "Accept-Encoding", accepted_codings());
  }
  if (content.is_given) add_usual(lines, "Content-Type", content.type);
  if (waits_for_continue_) lines.add("Expect", "100-continue");
  if (core_->options.cookies) add_usual(lines, "Cookie", core_->jar.field_for(url_, wall_time()));
  const Result<void> authorized = authorize(lines, content);
  if (!authorized) return authorized.error();
  const Result<void> introduced = authorize_to_proxy(lines);
  if (!introduced) return introduced.error();
  lines.add(fields_);
  return lines;
}

// What a proxy that makes the request itself wants to know. RFC 9110 §11.7
Result<void> Fetch::authorize_to_proxy(FieldLines& lines) {
  shown_to_proxy_.clear();
  if (route_.use != ProxyUse::Forward) return {};
  Result<std::string> field = route_.proxy->authorize(name(method_), url_.to_string());
  if (!field) return field.error();
  shown_to_proxy_ = *std::move(field);
  if (!shown_to_proxy_.empty()) lines.add("Proxy-Authorization", shown_to_proxy_);
  return {};
}

Result<void> Fetch::authorize(FieldLines& lines, const RequestContent& content) {
  if (!credentials_ || fields_.find("Authorization")) return {};
  Authorization& known = core_->authorizations.of(origin_.to_string(), *credentials_);
  const std::string_view text = length_of(content.body) ? content.body.text() : "";
  Result<std::optional<std::string>> field =
      known.field(name(method_), url_.request_target(), text);
  if (!field) return field.error();
  if (*field) lines.add("Authorization", **field);
  return {};
}

Result<ExchangePointer> Fetch::begin(HttpConnection& connection) {
  Result<RequestContent> content = RequestContent{};
  if (has_content_) content = make_content(*spec_);
  if (!content) return content.error();
  content_bytes_ = length_of(content->body);
  waits_for_continue_ = spec_->expects_continue && content->body.kind() != Body::Kind::None;
  const Result<FieldLines> lines = fields(*content);
  if (!lines) return lines.error();
  const bool is_stream = content->body.kind() == Body::Kind::Stream;
  Result<ExchangePointer> begun = connection.begin(
      {.method = method_,
       .url = url_,
       .fields = *lines,
       .content = std::move(content->body),
       .form = route_.use == ProxyUse::Forward ? h1::TargetForm::Absolute : h1::TargetForm::Origin,
       .expects_continue = waits_for_continue_});
  if (begun && is_stream && !waits_for_continue_) is_sent_ = true;
  timings_.sent = core_->loop.now() - began_;
  return begun;
}

Task<Outcome<Pool::Lease>> Fetch::acquire() {
  const std::string whom = origin_.to_string();
  // One that a proxy answers on is as good for every origin behind it.
  const std::string key = route_.use == ProxyUse::Forward
                              ? "proxy " + route_.proxy->proxy().origin.to_string()
                              : whom + (origin_.is_secure ? " tls" : "");
  const Pool::Connect connect = [this] { return core_->open(origin_, &times_); };
  Task<Outcome<Pool::Lease>> acquiring =
      core_->pool.acquire(key, whom, core_->options.timeouts.queue, connect);
  if (deadline_ == loop::Instant::max()) {
    Outcome<Pool::Lease> lease = co_await std::move(acquiring);
    co_return lease;
  }
  std::optional<Outcome<Pool::Lease>> lease =
      co_await within(core_->loop, deadline_, std::move(acquiring));
  if (!lease) co_return timed_out(step(), spec_->timeout);
  co_return *std::move(lease);
}

// The response's head -----------------------------------------------------------------------------

void Fetch::take_interim(Exchange& exchange) {
  const http::Head& head = exchange.head();
  if (head.status == 100) {
    waits_for_continue_ = false;
    is_sent_ = true;
    return exchange.continue_now();
  }
  if (!spec_->on_interim) return;
  std::string lines;
  for (const http::FieldLine& line : head.fields) {
    lines.append(head.name(line)).append(": ").append(head.value(line)).append("\r\n");
  }
  spec_->on_interim(static_cast<Status>(head.status), lines);
}

// From the moment that everything is sent the head has its own limit, however it drips.
Duration Fetch::patience(const Exchange& exchange, loop::Instant all_sent) const noexcept {
  const ClientTimeouts& timeouts = core_->options.timeouts;
  const loop::Instant now = core_->loop.now();
  const bool is_all_sent = exchange.is_all_sent();
  const Duration left =
      is_all_sent ? timeouts.head - (now - all_sent) : timeouts.idle - (now - exchange.progress());
  return std::min(left, deadline_ - now);
}

void Fetch::tell_upload(const Exchange& exchange, std::uint64_t& told_bytes) const {
  if (!spec_->on_upload || exchange.sent_bytes() == told_bytes) return;
  told_bytes = exchange.sent_bytes();
  spec_->on_upload({told_bytes, content_bytes_});
}

Task<Result<void>> Fetch::await_head(Exchange& exchange) {
  loop::Instant all_sent = core_->loop.now();
  const loop::Instant asked = all_sent;
  std::uint64_t told_bytes = 0;
  while (true) {
    const Result<Exchange::Step> step = exchange.read();
    if (!step) co_return step.error();
    tell_upload(exchange, told_bytes);
    if (step->event == Event::Head) co_return {};
    if (step->event == Event::Interim) take_interim(exchange);
    if (step->event != Event::NeedMore) continue;
    if (!exchange.is_all_sent()) all_sent = core_->loop.now();
    Duration left = patience(exchange, all_sent);
    if (waits_for_continue_) {
      left = std::min(left, core_->options.timeouts.continue_wait - (core_->loop.now() - asked));
      if (left <= Duration(0)) {
        waits_for_continue_ = false;
        is_sent_ = true;
        exchange.continue_now();
        continue;
      }
    }
    if (left <= Duration(0)) co_return Errc::TimedOut;
    co_await TimedWait(core_->loop, exchange.changed(), left);
  }
}

bool Fetch::may_repeat(const Exchange& exchange, bool is_reused, Error error) const {
  if (is_sent_ && has_content_ && !is_repeatable(*spec_)) return false;
  if (exchange.is_unprocessed()) return true;
  return is_reused && !exchange.has_begun() && is_idempotent(method_) &&
         error.code() != Errc::TimedOut;
}

Problem Fetch::failure(const Exchange& exchange, Error error) const {
  if (error.code() == Errc::TimedOut) {
    const bool is_total = core_->loop.now() >= deadline_;
    return timed_out(step(), is_total ? spec_->timeout : core_->options.timeouts.head);
  }
  if (error.code() != Errc::Closed) return could_not(step(), error);
  return could_not(step(), error,
                   exchange.has_begun()
                       ? "the server closed the connection in the middle of its answer"
                       : "the server closed the connection without an answer");
}

Task<Outcome<ReceptionPointer>> Fetch::exchange() {
  for (unsigned tries = 1;; ++tries) {
    Outcome<Pool::Lease> lease = co_await acquire();
    if (!lease) co_return lease.error();
    const bool is_reused = lease->is_reused();
    Result<ExchangePointer> begun = begin(static_cast<HttpConnection&>(lease->connection()));
    if (!begun) {
      if (begun.error().code() == Errc::Closed && tries < most_tries) continue;
      co_return could_not(step(), begun.error());
    }
    ExchangePointer running = *std::move(begun);
    const Result<void> head = co_await await_head(*running);
    if (head) co_return receive(*std::move(lease), std::move(running));
    if (tries < most_tries && may_repeat(*running, is_reused, head.error())) continue;
    co_return failure(*running, head.error());
  }
}

ReceptionPointer Fetch::receive(Pool::Lease lease, ExchangePointer exchange) {
  timings_.head = core_->loop.now() - began_;
  const auto since = [this](const std::optional<loop::Instant>& time) {
    return time ? std::optional(*time - began_) : std::nullopt;
  };
  timings_.resolved = since(times_.resolved);
  timings_.connected = since(times_.connected);
  timings_.secured = since(times_.secured);
  Reception::Asked asked;
  asked.method = method_;
  asked.url = url_;
  asked.redirects = redirects_;
  asked.decompress = spec_->decompress && !fields_.find("Accept-Encoding");
  asked.began = began_;
  asked.deadline = deadline_;
  asked.timings = timings_;
  asked.on_progress = spec_->on_progress;
  return std::make_unique<Reception>(core_, std::move(lease), std::move(exchange),
                                     std::move(asked));
}

// What follows -----------------------------------------------------------------------------------

void Fetch::store_cookies(const http::Head& head) {
  if (!core_->options.cookies) return;
  for (const http::FieldLine& line : head.fields) {
    if (line.name != http::FieldName::SetCookie) continue;
    // A cookie that is refused is not an error of the response. RFC 6265bis §5.7
    static_cast<void>(core_->jar.store(url_, head.value(line), wall_time()));
  }
}

bool Fetch::answers_challenge(const http::Head& head) {
  if (!credentials_ || fields_.find("Authorization")) return false;
  Authorization& known = core_->authorizations.of(origin_.to_string(), *credentials_);
  if (!known.learn(head) || answers_ == most_answers) return false;
  if (answers_ != 0 && !known.is_stale()) return false;  // that was the answer
  if (has_content_ && is_sent_ && !is_repeatable(*spec_)) return false;
  ++answers_;
  return true;
}

Fetch::Next Fetch::redirect(const http::Head& head) {
  std::optional<std::string_view> location;
  for (const http::FieldLine& line : head.fields) {
    if (line.name != http::FieldName::Location) continue;
    if (location) return Next::Answer;  // which of them?
    location = head.value(line);
  }
  RedirectOptions options = core_->options.redirects;
  options.limit = spec_->redirects;
  if (options.limit == 0) return Next::Answer;
  RedirectedRequest request;
  request.method = method_;
  request.has_body = has_content_ && has_content(*spec_);
  request.can_resend_body = is_repeatable(*spec_) || !is_sent_;
  request.followed_count = redirects_;
  const Result<Redirect, RedirectStop> redirected =
      next_request(request, url_, static_cast<Status>(head.status), location, options);
  if (!redirected) {
    const RedirectStop stop = redirected.error();
    if (stop == RedirectStop::NotARedirect || stop == RedirectStop::NoLocation) {
      return Next::Answer;
    }
    const Errc code =
        stop == RedirectStop::TooMany ? Errc::TooManyRedirects : Errc::RedirectRefused;
    problem_ = could_not(step(), code, std::string(message(stop)));
    return Next::Problem;
  }
  drop_fields(*redirected, fields_);
  if (!redirected->keeps_credentials) credentials_.reset();
  if (!redirected->keeps_body) has_content_ = false;
  method_ = redirected->method;
  url_ = redirected->url;
  ++redirects_;
  answers_ = 0;
  return Next::Again;
}

bool Fetch::answers_proxy(const http::Head& head) {
  if (route_.use != ProxyUse::Forward) return false;
  if (head.status != code(Status::ProxyAuthenticationRequired)) {
    route_.proxy->note(head);
    return false;
  }
  if (has_content_ && is_sent_ && !is_repeatable(*spec_)) return false;
  return ++proxy_answers_ <= most_answers && route_.proxy->accept(head, shown_to_proxy_);
}

Fetch::Next Fetch::next(const http::Head& head) {
  if (answers_proxy(head)) return Next::Again;
  store_cookies(head);
  if (answers_challenge(head)) return Next::Again;
  return redirect(head);
}

Task<Outcome<ReceptionPointer>> Fetch::run() {
  problem_ = read_url();
  if (problem_) co_return *std::move(problem_);
  while (true) {
    origin_ = origin_of(url_, core_->options);
    route_ = core_->proxies.route(origin_, false);
    times_ = ConnectTimes();
    timings_ = ClientTimings();
    Outcome<ReceptionPointer> got = co_await exchange();
    if (!got) co_return got.error();
    const Next what = next((*got)->head());
    if (what == Next::Answer) co_return *std::move(got);
    co_await (*got)->discard();
    if (what == Next::Problem) co_return *std::move(problem_);
  }
}

}  // namespace

Task<Outcome<ReceptionPointer>> fetch(std::shared_ptr<Core> core,
                                      std::unique_ptr<RequestSpec> spec) {
  Fetch fetch(std::move(core), std::move(spec));
  Outcome<ReceptionPointer> got = co_await fetch.run();
  co_return got;
}

}  // namespace skua::client
