// SPDX-License-Identifier: MIT
// In: a request, a status and a Location. Out: the next request, or why there is none. All of the
// rules are here, and none of them waits for anything.
#include "client/redirect.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "base/percent.hpp"
#include "client/fetch.hpp"
#include "client/problem.hpp"

namespace skua::client {
namespace {

constexpr bool is_redirect(Status status) noexcept {
  switch (status) {
    case Status::MovedPermanently:
    case Status::Found:
    case Status::SeeOther:
    case Status::TemporaryRedirect:
    case Status::PermanentRedirect: return true;
    default: return false;
  }
}

// RFC 9110 §15.4.2-4: POST becomes GET, because clients have always done that. A 303 refers to a
// resource to GET, whatever the method was.
constexpr Method next_method(Method method, Status status) noexcept {
  const bool is_moved = status == Status::MovedPermanently || status == Status::Found;
  if (is_moved && method == Method::Post) return Method::Get;
  if (status == Status::SeeOther && method != Method::Head) return Method::Get;
  return method;
}

constexpr bool is_web(std::string_view scheme) noexcept {
  return scheme == "http" || scheme == "https";
}

constexpr bool is_encrypted(std::string_view scheme) noexcept {
  return scheme == "https" || scheme == "wss";
}

// Returns a Location without what URLs do not have and browsers put up with: a percent sign that
// encodes nothing, and a second `#`, which only a fragment can contain.
std::string mended(std::string_view location) {
  const std::size_t begin = location.find_first_of(":/?#");
  const std::size_t slashes = begin != location.npos && location[begin] == ':' ? begin + 1 : 0;
  const bool has_authority = location.substr(slashes).starts_with("//");
  const std::size_t path =
      has_authority ? std::min(location.find_first_of("/?#", slashes + 2), location.size()) : 0;
  std::string text(location.substr(0, path));  // an authority stays as it is
  bool is_fragment = false;
  for (std::size_t at = path; at < location.size(); ++at) {
    const char c = location[at];
    const bool is_lone = c == '%' && !percent::has_triplet(location.substr(at));
    if (is_lone) {
      text += "%25";
    } else if (c == '#' && is_fragment) {
      text += "%23";
    } else {
      text += c;
    }
    is_fragment = is_fragment || c == '#';
  }
  return text;
}

// Resolves and checks the Location.
Result<Url, RedirectStop> target_of(const Url& url, std::string_view location,
                                    const RedirectOptions& options) {
  const Result<Url> reference = Url::parse_lenient(mended(location));
  if (!reference) return RedirectStop::MalformedLocation;
  if (reference->has_scheme() && !is_web(reference->scheme())) {
    return RedirectStop::UnsupportedScheme;
  }
  if (reference->has_userinfo() && !options.allow_userinfo) return RedirectStop::HasUserinfo;
  const Result<Url> resolved = url.resolve(*reference);
  // `https:path` has no host, and implementations disagree on its meaning.
  if (!resolved || resolved->host().empty()) return RedirectStop::MalformedLocation;
  Url target = *resolved;
  if (!is_web(target.scheme())) return RedirectStop::UnsupportedScheme;
  if (is_encrypted(url.scheme()) && !is_encrypted(target.scheme()) &&
      !options.allow_https_to_http) {
    return RedirectStop::HttpsToHttp;
  }
  // RFC 9110 §10.2.2: the fragment is inherited if the Location has none.
  if (!target.has_fragment() && url.has_fragment() && !target.set_fragment(url.fragment())) {
    return RedirectStop::MalformedLocation;
  }
  // A relative reference inherits userinfo, which is a field of the request by now.
  if (target.has_userinfo() && !target.set_userinfo({})) return RedirectStop::MalformedLocation;
  return target;
}

// The fields that browsers and RFC 9110 §15.4 name, and other secrets of an origin.
constexpr std::array<std::string_view, 7> fields_of_an_origin{
    "Host", "Authorization", "Cookie", "Cookie2", "Origin", "Referer", "Proxy-Authorization"};

constexpr std::array<std::string_view, 13> fields_of_content{
    "Content-Type",   "Content-Encoding", "Content-Language",  "Content-Location",
    "Content-Length", "Content-Range",    "Content-Digest",    "Repr-Digest",
    "Digest",         "Last-Modified",    "Transfer-Encoding", "Trailer",
    "Expect"};

}  // namespace

std::string_view message(RedirectStop stop) noexcept {
  using enum RedirectStop;
  switch (stop) {
    case NotARedirect: return "the response is not a redirect";
    case NoLocation: return "the redirect has no Location";
    case MalformedLocation: return "the Location of the redirect is malformed";
    case UnsupportedScheme: return "the redirect leads to neither http nor https";
    case HasUserinfo: return "the redirect contains a name or a password";
    case HttpsToHttp: return "the redirect leads from https to http";
    case BodyIsGone: return "the redirect requires the body, which cannot be sent again";
    case TooMany: return "there are too many redirects";
  }
  return {};
}

Result<Redirect, RedirectStop> next_request(const RedirectedRequest& request, const Url& url,
                                            Status status, std::optional<std::string_view> location,
                                            const RedirectOptions& options) {
  // A redirect of CONNECT comes from the proxy, not from the origin (RFC 9110 §9.3.6).
  if (!is_redirect(status) || request.method == Method::Connect) return RedirectStop::NotARedirect;
  if (!location || location->empty()) return RedirectStop::NoLocation;
  if (request.followed_count >= options.limit) return RedirectStop::TooMany;
  Result<Url, RedirectStop> target = target_of(url, *location, options);
  if (!target) return target.error();
  Redirect next;
  next.method = next_method(request.method, status);
  next.keeps_body = request.has_body && next.method == request.method && status != Status::SeeOther;
  if (next.keeps_body && !request.can_resend_body) return RedirectStop::BodyIsGone;
  next.keeps_credentials = target->origin() == url.origin();
  next.url = *std::move(target);
  return next;
}

void drop_fields(const Redirect& redirect, FieldLines& fields) {
  if (!redirect.keeps_credentials) {
    for (const std::string_view name : fields_of_an_origin) fields.remove(name);
  }
  if (!redirect.keeps_body) {
    for (const std::string_view name : fields_of_content) fields.remove(name);
  }
}

namespace {

constexpr unsigned max_answers = 3;  // to challenges

}  // namespace

// In: a head. Out: whether it is the answer, or else the next request.

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
  if (!known.learn(head, sent) || count == max_answers) return false;
  if (count != 0 && !known.is_stale()) return false;  // the credentials were rejected
  if (has_content_ && is_sent_ && !is_repeatable(spec_)) return false;
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
  options.limit = spec_.redirects;
  if (options.limit == 0) return Next::Answer;
  RedirectedRequest request;
  request.method = method_;
  request.has_body = has_content_ && has_content(spec_);
  request.can_resend_body = is_repeatable(spec_) || !is_sent_;
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
  if (!expects_continue_ || !has_content_ || !has_content(spec_)) return false;
  if (is_sent_ && !is_repeatable(spec_)) return false;
  expects_continue_ = false;
  return true;
}

Fetch::Next Fetch::next(const http::Head& head) {
  if (spec_.forwarding) return Next::Answer;
  if (answers_proxy(head)) return Next::Again;
  const bool is_proxys_own =
      head.status == code(Status::ProxyAuthenticationRequired) && route_.use == ProxyUse::Forward;
  if (!is_proxys_own) store_cookies(head);
  if (answers_challenge(head) || answers_refusal(head)) return Next::Again;
  return redirect(head);
}

}  // namespace skua::client
