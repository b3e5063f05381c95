// SPDX-License-Identifier: MIT
// Converts between a cookie and a session. A cookie that cannot be opened counts as no cookie; the
// reason is never revealed, least of all to the sender.
#include "middleware/session_keeper.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "crypto/digest.hpp"
#include "http/message/field.hpp"
#include "loop/clock.hpp"

namespace skua::middleware {
namespace {

using base64::Alphabet;
using std::chrono::sys_seconds;

constexpr char version = 1;
constexpr std::size_t key_id_bytes = 4;
constexpr std::size_t prefix_bytes = 1 + key_id_bytes;
constexpr std::size_t id_bytes = 16;
constexpr std::size_t times_bytes = 24;
constexpr std::size_t min_key_bytes = 32;
// RFC 6265 §6.1: browsers keep at least 4096 bytes per cookie: name, value and attributes together.
// Our attributes take less than attributes_bytes.
constexpr std::size_t cookie_bytes = 4096;
constexpr std::size_t attributes_bytes = 100;
// Allows for clock skew between servers.
constexpr std::chrono::seconds tolerance{60};

void append_number(std::string& out, std::uint64_t number, unsigned size_bytes) {
  for (unsigned shift = size_bytes * 8; shift != 0; shift -= 8) {
    out += static_cast<char>(number >> (shift - 8) & 0xffU);
  }
}

// Reads a number written by append_number. The caller has checked that it is present.
std::uint64_t take_number(std::string_view& bytes, std::size_t size_bytes) noexcept {
  std::uint64_t number = 0;
  for (const char c : bytes.substr(0, size_bytes)) {
    number = number << 8U | static_cast<unsigned char>(c);
  }
  bytes.remove_prefix(size_bytes);
  return number;
}

void append_time(std::string& out, sys_seconds time) {
  append_number(out, static_cast<std::uint64_t>(time.time_since_epoch().count()), 8);
}

sys_seconds take_time(std::string_view& bytes) noexcept {
  return sys_seconds(std::chrono::seconds(take_number(bytes, 8)));
}

SessionOptions checked(SessionOptions options) {
  const auto refuse = [](const char* why) {
    throw std::invalid_argument("sessions: " + std::string(why));
  };
  if (!crypto::is_available()) refuse("needs OpenSSL, which skua was built without");
  if (options.keys.empty()) refuse("no key is configured");
  for (const std::string& key : options.keys) {
    if (key.size() < min_key_bytes) refuse("a key is shorter than 32 bytes");
  }
  if (!ascii::is_token_text(options.name)) refuse("the cookie name is not a token");
  if (options.name.size() > 64) refuse("the cookie name is longer than 64 bytes");
  if (options.idle <= std::chrono::seconds::zero()) refuse("idle is not positive");
  if (options.lifetime < std::chrono::seconds::zero()) refuse("lifetime is negative");
  if (options.same_site == SameSite::None && !options.secure) refuse("SameSite::None needs secure");
  if (options.secure) options.name.insert(0, "__Host-");
  return options;
}

}  // namespace

SessionKeeper::SessionKeeper(SessionOptions options, WallClock clock)
    : options_(checked(std::move(options))), clock_(std::move(clock)) {
  for (const std::string& secret : options_.keys) {
    keys_.push_back({crypto::hkdf_sha256(secret, {}, "skua session key id", key_id_bytes).value(),
                     crypto::Aead::derive(secret, "skua session").value()});
  }
  options_.keys.clear();
  const std::size_t sealed_bytes =
      (cookie_bytes - attributes_bytes - options_.name.size() - 1) / 4 * 3;
  max_bytes_ = sealed_bytes - prefix_bytes - crypto::Aead::overhead_bytes - times_bytes - id_bytes;
}

void SessionKeeper::open(Request& request) const {
  Session session;
  session.max_bytes_ = max_bytes_;
  if (const auto cookie = request.cookie(options_.name)) {
    Session kept;
    kept.max_bytes_ = max_bytes_;
    if (read(*cookie, clock_(), kept)) session = std::move(kept);
  }
  request.attachments().set(std::move(session));
}

bool SessionKeeper::read(std::string_view cookie, sys_seconds now, Session& session) const {
  if (cookie.size() > cookie_bytes) return false;
  const auto bytes = base64::decode(cookie, Alphabet::Url);
  if (!bytes || bytes->size() < prefix_bytes || bytes->front() != version) return false;
  const std::string_view prefix = std::string_view(*bytes).substr(0, prefix_bytes);
  const std::string associated = std::string(prefix) + options_.name;
  for (const Key& key : keys_) {
    if (prefix.substr(1) != key.id) continue;
    const auto plain = key.aead.open(std::string_view(*bytes).substr(prefix_bytes), associated);
    if (!plain) continue;
    session.is_due_ = &key != keys_.data();
    return read_plain(*plain, now, session);
  }
  return false;
}

bool SessionKeeper::read_plain(std::string_view plain, sys_seconds now, Session& session) const {
  if (plain.size() < times_bytes + id_bytes) return false;
  const sys_seconds sealed = take_time(plain);
  const sys_seconds expires = take_time(plain);
  session.begun_ = take_time(plain);
  if (sealed > later(now, tolerance) || now >= expires || now - sealed >= options_.idle)
    return false;
  if (options_.lifetime.count() != 0 && now - session.begun_ >= options_.lifetime) return false;
  if (now - sealed >= options_.idle / 2) session.is_due_ = true;
  session.id_ = base64::encode(plain.substr(0, id_bytes), Alphabet::Url);
  plain.remove_prefix(id_bytes);
  session.size_bytes_ = plain.size();
  while (!plain.empty()) {
    if (plain.size() < 4) return false;
    const auto name_bytes = static_cast<std::size_t>(take_number(plain, 2));
    const auto value_bytes = static_cast<std::size_t>(take_number(plain, 2));
    if (plain.size() < name_bytes + value_bytes) return false;
    session.values_.push_back({std::string(plain.substr(0, name_bytes)),
                               std::string(plain.substr(name_bytes, value_bytes))});
    plain.remove_prefix(name_bytes + value_bytes);
  }
  session.is_begun_anew_ = false;
  session.has_cookie_ = true;
  return true;
}

std::string SessionKeeper::write(const Session& session, sys_seconds now,
                                 std::chrono::seconds age) const {
  std::string plain;
  append_time(plain, now);
  append_time(plain, later(now, age));
  append_time(plain, session.is_begun_anew_ ? now : session.begun_);
  plain += base64::decode(session.id_, Alphabet::Url).value_or(std::string(id_bytes, '\0'));
  for (const auto& [name, value] : session.values_) {
    append_number(plain, name.size(), 2);
    append_number(plain, value.size(), 2);
    plain.append(name).append(value);
  }
  const Key& key = keys_.front();
  std::string out(1, version);
  out += key.id;
  out += key.aead.seal(plain, out + options_.name).value();
  return base64::encode(out, Alphabet::Url);
}

void SessionKeeper::save(const Request& request, Response& response) const {
  const Session* const session = request.attachments().find<Session>();
  if (session == nullptr) return;  // an outer guard answered
  CookieOptions cookie;
  cookie.secure = options_.secure;
  cookie.same_site = options_.same_site;
  const bool is_sent = !session->is_empty() && (session->is_changed_ || session->is_due_);
  const bool is_deleted = session->is_empty() && session->has_cookie_;
  if (is_sent) {
    const sys_seconds now = clock_();
    const sys_seconds begun = session->is_begun_anew_ ? now : session->begun_;
    cookie.max_age = options_.idle;
    if (options_.lifetime.count() != 0) {
      cookie.max_age = std::min(cookie.max_age, later(begun, options_.lifetime) - now);
    }
    response.cookie(options_.name, write(*session, now, cookie.max_age), cookie);
  } else if (is_deleted) {
    cookie.max_age = std::chrono::seconds(-1);
    response.cookie(options_.name, {}, cookie);
  }
  if (!is_sent && !is_deleted && !session->is_used_) return;
  // A response for one visitor must not be served to others: RFC 9111 §5.2.2.7, RFC 9110 §12.5.5.
  constexpr auto cache_control = static_cast<unsigned>(http::FieldName::CacheControl);
  if ((response.known_fields() >> cache_control & 1U) == 0) {
    response.header("Cache-Control", "private");
  }
  response.add_header("Vary", "Cookie");
}

}  // namespace skua::middleware
