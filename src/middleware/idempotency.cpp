// SPDX-License-Identifier: MIT
// In: a request with a key. Out: the response to the first request with that key. A stored text is
// a claim while the handler runs, which is renewed as long as it does, then the response:
//
//     claim FINGERPRINT TOKEN       done FINGERPRINT STATUS SIZE-OF-TYPE SIZE-OF-LINES\n
//                                   type, field lines as sent, content
#include "skua/idempotency.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "crypto/random.hpp"
#include "crypto/sha1.hpp"
#include "middleware/rate_limit.hpp"
#include "skua/async.hpp"
#include "skua/auth.hpp"
#include "skua/session.hpp"

namespace skua {
namespace {

constexpr std::size_t max_idempotency_key_bytes = 255;

/// The key of a request: nullopt without one, empty if it is malformed.
std::optional<std::string> idempotency_key_of(const Request& request) {
  const auto value = request.header("Idempotency-Key");
  if (!value) return std::nullopt;
  std::string_view key = *value;
  // The draft has a quoted String (RFC 9651 §3.3.3); clients often leave the quotes out.
  if (key.size() >= 2 && key.starts_with('"') && key.ends_with('"')) {
    key = key.substr(1, key.size() - 2);
  }
  const bool is_plain = std::ranges::all_of(
      key, [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
  return is_plain && key.size() <= max_idempotency_key_bytes ? std::string(key) : std::string();
}

/// Returns digests of the method and target, and of the content, which has been loaded.
std::string fingerprint_of(const Request& request) {
  std::string text(request.method_name());
  text.append(" ").append(request.target());
  return hex::encode(crypto::sha1(text)) + hex::encode(crypto::sha1(request.body()));
}

/// Version 0.1 stored the first digest alone.
bool is_of(std::string_view stored, std::string_view fingerprint) noexcept {
  return stored == fingerprint || stored == fingerprint.substr(0, fingerprint.size() / 2);
}

std::string_view take_word(std::string_view& text) noexcept {
  const std::size_t end = text.find_first_of(" \n");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

std::size_t take_number(std::string_view& text) noexcept {
  const std::string_view word = take_word(text);
  std::size_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

// These say `not now`, `not here` or `not you`: nothing was done, and a repeated request may get
// another answer. A server that is being replaced may not know a new route yet.
bool is_final(Status status) noexcept {
  switch (status) {
    case Status::Unauthorized:
    case Status::NotFound:
    case Status::MethodNotAllowed:
    case Status::RequestTimeout:
    case Status::MisdirectedRequest:
    case Status::TooEarly:
    case Status::TooManyRequests: return false;
    default: return code(status) < 500;
  }
}

// A cookie is for the client that got it first, if anybody.
std::string lines_to_keep(const Response& response) {
  std::string kept;
  for (const FieldLines::Line line : response.lines()) {
    if (ascii::equals_ignoring_case(line.name, "Set-Cookie")) continue;
    kept.append(line.name).append(": ").append(line.value).append("\r\n");
  }
  return kept;
}

// Files, streams and prepared responses cannot be kept, and what is too large is not.
std::string stored(const Response& response, const std::string& fingerprint, std::size_t most) {
  const Body::Kind kind = response.content().kind();
  const std::string lines = lines_to_keep(response);
  const bool is_kept = kind != Body::Kind::File && kind != Body::Kind::Stream &&
                       response.prepared() == nullptr &&
                       response.body().size() + lines.size() <= most;
  if (!is_kept) return "done " + fingerprint + " 409 0 0\n";
  const std::string_view type = response.content_type();
  std::string text = "done " + fingerprint + " " + std::to_string(code(response.status())) + " " +
                     std::to_string(type.size()) + " " + std::to_string(lines.size()) + "\n";
  return text.append(type).append(lines).append(response.body());
}

void add_lines(Response& response, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 2, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    if (ascii::equals_ignoring_case(name, "Content-Type")) continue;
    response.add_header(name, ascii::trim_ows(line.substr(colon + 1)));
  }
}

Response repeated(std::string_view text, const std::string& fingerprint) {
  const std::string_view state = take_word(text);
  if (!is_of(take_word(text), fingerprint)) return Status::UnprocessableContent;
  if (state != "done") {
    Response response(Status::Conflict);
    response.header("Retry-After", "1");
    return response;
  }
  const std::size_t number = take_number(text);
  const std::size_t type_bytes = take_number(text);
  const std::size_t lines_bytes = take_number(text);
  const bool is_whole = number >= 200 && number <= 599 && type_bytes <= text.size() &&
                        lines_bytes <= text.size() - type_bytes;
  if (!is_whole) return Status::InternalServerError;
  const std::string_view type = text.substr(0, type_bytes);
  Response response(static_cast<Status>(number));
  const std::string_view content = text.substr(type_bytes + lines_bytes);
  if (!content.empty()) response.body(std::string(content), type);
  add_lines(response, text.substr(type_bytes, lines_bytes));
  return response;
}

/// The claim of a request on its key. Unless the handler has begun, its end gives the key back.
class Claim final {
 public:
  Claim(std::shared_ptr<SharedTexts> texts, std::string key, const std::string& fingerprint,
        Duration lease)
      : texts_(std::move(texts)),
        key_(std::move(key)),
        text_("claim " + fingerprint + " " + crypto::random_token().value()),
        lease_(lease) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (is_kept_) return;
    try {
      // Also if its fate is unknown. The store goes on with it without the task.
      Task<Result<void, Problem>> giving_back = texts_->replace(key_, text_, "", lease_);
      giving_back.start(nullptr, nullptr);
    } catch (...) {  // NOLINT(bugprone-empty-catch): it ends with its lease
    }
  }

  /// Returns nullopt if the key is claimed now, or else its text.
  Task<SharedTexts::Found> take() { return texts_->add(key_, text_, lease_); }
  /// The key is not given back: the handler begins, or it is another request's.
  void keep() noexcept { is_kept_ = true; }
  /// Renews the claim until the task is dropped.
  Task<> renew() {
    while (true) {
      co_await sleep(lease_ / 2);
      try {
        const Result<void, Problem> renewed = co_await texts_->replace(key_, text_, text_, lease_);
        static_cast<void>(renewed.has_value());
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next one may succeed
      }
    }
  }
  /// Replaces the claim by a response; by nothing if the text is empty.
  Task<Result<void, Problem>> end(std::string text, Duration lifetime) {
    return texts_->replace(key_, text_, std::move(text), lifetime);
  }

 private:
  std::shared_ptr<SharedTexts> texts_;  // shared with others
  std::string key_;
  std::string text_;
  Duration lease_;
  bool is_kept_ = false;
};

/// The owner of a key.
struct Owner {
  std::string name{};
  bool is_anonymous = false;  ///< it is an address
};

}  // namespace

struct IdempotencyKeys::Rules {
  IdempotencyOptions options;
  std::shared_ptr<SharedTexts> texts;  // shared with others

  /// Returns the name of the text of a key; the size keeps owners apart whatever they are called.
  [[nodiscard]] static std::string name_of(const Owner& owner, const std::string& key) {
    return "idempotency:" + std::to_string(owner.name.size()) + ":" + owner.name + ":" + key;
  }
  [[nodiscard]] Owner owner_of(const Request& request) const {
    if (options.owner) return {.name = options.owner(request)};
    if (const auth::User* const user = auth::user(request)) return {.name = "user:" + user->name};
    const Session* const found = request.attachments().find<Session>();
    if (found != nullptr && !found->id().empty()) {
      // The response depends on the session from now on. Its id is a secret of the visitor.
      return {.name = "session:" + hex::encode(crypto::sha1(session(request).id()))};
    }
    return {.name = middleware::client_key(request.client_address().to_string()),
            .is_anonymous = true};
  }
};

IdempotencyKeys::IdempotencyKeys(IdempotencyOptions options, std::shared_ptr<SharedTexts> texts)
    : rules_(std::make_shared<const Rules>(Rules{std::move(options), std::move(texts)})) {
  const IdempotencyOptions& checked = rules_->options;
  if (checked.lifetime <= Duration::zero() || checked.anonymous_lifetime <= Duration::zero() ||
      checked.lease <= Duration::zero()) {
    throw std::invalid_argument("idempotency_keys: lifetimes and lease must be positive");
  }
}

Task<Response> IdempotencyKeys::operator()(Request& request, Next next) const {
  const bool is_unsafe = request.method() == Method::Post || request.method() == Method::Patch;
  return is_unsafe ? run(rules_, request, next) : next(request);
}

Task<Response> IdempotencyKeys::run(std::shared_ptr<const Rules> rules, Request& request,
                                    Next next) {
  const IdempotencyOptions& options = rules->options;
  const std::optional<std::string> told = idempotency_key_of(request);
  if (!told && !options.is_required) {
    Response response = co_await next(request);
    co_return response;
  }
  if (!told || told->empty()) co_return Status::BadRequest;
  const Owner owner = rules->owner_of(request);
  // Before the claim: an upload that breaks has done nothing.
  co_await next.load(request);
  const std::string fingerprint = fingerprint_of(request);
  Claim claim(rules->texts, Rules::name_of(owner, *told), fingerprint, options.lease);
  const SharedTexts::Found found = co_await claim.take();
  if (!found) co_return Status::ServiceUnavailable;
  claim.keep();
  if (const std::optional<std::string>& text = *found) co_return repeated(*text, fingerprint);

  std::exception_ptr failure;
  std::optional<Response> response;
  {
    Scope renewal;
    renewal.spawn(claim.renew());
    try {
      response = co_await next(request);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  std::string text;
  if (response && is_final(response->status())) {
    text = stored(*response, fingerprint, options.max_response_bytes);
  }
  const Duration lifetime = owner.is_anonymous ? options.anonymous_lifetime : options.lifetime;
  // If this fails, the claim ends with its lease.
  const Result<void, Problem> replaced = co_await claim.end(std::move(text), lifetime);
  static_cast<void>(replaced.has_value());
  if (failure) std::rethrow_exception(failure);
  co_return *std::move(response);
}

}  // namespace skua
