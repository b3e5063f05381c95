// SPDX-License-Identifier: MIT
// In: a head. Out: whether it is the answer, or else the next request.
#include <utility>

#include "client/fetch_state.hpp"
#include "client/problem.hpp"
#include "client/redirect.hpp"
#include "client/wall_time.hpp"

namespace skua::client {
namespace {

constexpr unsigned most_answers = 3;  // to challenges

}  // namespace

void Fetch::store_cookies(const http::Head& head) {
  if (!core_->options.cookies) return;
  for (const http::FieldLine& line : head.fields) {
    if (line.name != http::FieldName::SetCookie) continue;
    // A refused cookie does not fail the response. RFC 6265bis §5.7
    static_cast<void>(core_->jar.store(url_, head.value(line), wall_time()));
  }
}

// Reports whether to repeat the request with an answer to a server's or a proxy's challenge.
bool Fetch::answers(Authorization& known, const http::Head& head, std::string_view sent,
                    unsigned& count) {
  if (!known.learn(head, sent) || count == most_answers) return false;
  if (count != 0 && !known.is_stale()) return false;  // the credentials were rejected
  if (has_content_ && is_sent_ && !is_repeatable(*spec_)) return false;
  ++count;
  return true;
}

bool Fetch::answers_challenge(const http::Head& head) {
  if (!credentials_ || fields_.find(origin_authorization.credentials)) return false;
  return answers(authorization(*credentials_), head, shown_to_server_, answers_);
}

Fetch::Next Fetch::redirect(const http::Head& head) {
  std::optional<std::string_view> location;
  for (const http::FieldLine& line : head.fields) {
    if (line.name != http::FieldName::Location) continue;
    if (location) return Next::Answer;  // ambiguous
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
  return answers(route_.proxy->authorization(), head, shown_to_proxy_, proxy_answers_);
}

// A server that rejects the expectation is asked again without it. RFC 9110 §10.1.1
bool Fetch::answers_refusal(const http::Head& head) {
  if (head.status != code(Status::ExpectationFailed)) return false;
  if (!expects_continue_ || !has_content_ || !has_content(*spec_)) return false;
  if (is_sent_ && !is_repeatable(*spec_)) return false;
  expects_continue_ = false;
  return true;
}

Fetch::Next Fetch::next(const http::Head& head) {
  if (answers_proxy(head)) return Next::Again;
  const bool is_proxys_own =
      head.status == code(Status::ProxyAuthenticationRequired) && route_.use == ProxyUse::Forward;
  if (!is_proxys_own) store_cookies(head);
  if (answers_challenge(head) || answers_refusal(head)) return Next::Again;
  return redirect(head);
}

}  // namespace skua::client
