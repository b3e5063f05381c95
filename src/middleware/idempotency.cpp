// SPDX-License-Identifier: MIT
// In: a request with a key. Out: the response to the first request with that key. A stored text is
// a claim while the handler runs, then the response:
//
//     claim FINGERPRINT TOKEN       done FINGERPRINT STATUS SIZE-OF-TYPE SIZE-OF-LINES\n
//                                   type, field lines as sent, content
#include "skua/idempotency.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "crypto/random.hpp"
#include "crypto/sha1.hpp"
#include "middleware/rate_limit.hpp"
#include "skua/auth.hpp"

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

std::string fingerprint_of(const Request& request) {
  std::string text(name(request.method()));
  text.append(" ").append(request.target());
  return hex::encode(crypto::sha1(text));
}

std::string claim_token() {
  std::string random;
  for (int i = 0; i < 2; ++i) random += std::to_string(crypto::random_word());
  return random;
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

// Files, streams and prepared responses cannot be kept, and what is too large is not.
std::string stored(const Response& response, const std::string& fingerprint, std::size_t most) {
  const Body::Kind kind = response.content().kind();
  const std::string_view lines = response.lines().wire();
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
  if (take_word(text) != fingerprint) return Status::UnprocessableContent;
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

}  // namespace

struct IdempotencyKeys::Rules {
  IdempotencyOptions options;
  std::shared_ptr<SharedTexts> texts;  // shared with others

  /// Returns the name of the text of a key; the size keeps owners apart whatever they are called.
  [[nodiscard]] std::string name_of(const Request& request, const std::string& key) const {
    const std::string owner = owner_of(request);
    return "idempotency:" + std::to_string(owner.size()) + ":" + owner + ":" + key;
  }
  [[nodiscard]] std::string owner_of(const Request& request) const {
    if (options.owner) return options.owner(request);
    if (const auth::User* const user = auth::user(request)) return "user:" + user->name;
    return middleware::client_key(request.client_address().to_string());
  }
};

IdempotencyKeys::IdempotencyKeys(IdempotencyOptions options, std::shared_ptr<SharedTexts> texts)
    : rules_(std::make_shared<const Rules>(Rules{std::move(options), std::move(texts)})) {
  if (rules_->options.lifetime <= Duration::zero() || rules_->options.lease <= Duration::zero()) {
    throw std::invalid_argument("idempotency_keys: lifetime and lease must be positive");
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
  const std::string key = rules->name_of(request, *told);
  const std::string fingerprint = fingerprint_of(request);
  const std::string claim = "claim " + fingerprint + " " + claim_token();
  const SharedTexts::Found found = co_await rules->texts->add(key, claim, options.lease);
  if (!found) co_return Status::ServiceUnavailable;
  if (*found) co_return repeated(**found, fingerprint);

  std::exception_ptr failure;
  std::optional<Response> response;
  try {
    response = co_await next(request);
  } catch (...) {
    failure = std::current_exception();
  }
  const bool is_final = response && code(response->status()) < 500;
  std::string text = is_final ? stored(*response, fingerprint, options.max_response_bytes) : "";
  // If this fails, the claim ends with its lease.
  const Result<void, Problem> replaced =
      co_await rules->texts->replace(key, claim, std::move(text), options.lifetime);
  static_cast<void>(replaced.has_value());
  if (failure) std::rethrow_exception(failure);
  co_return *std::move(response);
}

}  // namespace skua
