// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

namespace middleware {
class SessionKeeper;
}

/// A visitor's data from request to request: small texts by name, in an encrypted and signed
/// cookie, so that servers store nothing and many can share it.
///
/// One thread at a time. If two concurrent requests change it, the later response wins.
class SKUA_API Session final {
 public:
  Session() = default;
  Session(Session&&) noexcept = default;
  Session& operator=(Session&&) noexcept = default;
  Session(const Session&) = delete;  // a copy would change nothing: auto& session = ...
  Session& operator=(const Session&) = delete;
  ~Session() = default;

  /// Returns the value with this name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;
  /// Stores a value, replacing any other with its name.
  ///
  /// Ends with: std::length_error if the session would no longer fit into a cookie.
  void set(std::string_view name, std::string_view value);
  template <detail::NotText T>
  void set(std::string_view, const T&) {
    detail::need_text<T>();
  }
  /// Removes a value, if it is there.
  void erase(std::string_view name);
  /// Removes all values and deletes the cookie.
  void clear();
  /// Gives the session a new id and a new start time and keeps its values. Call it on every login.
  void regenerate();

  /// Returns the id of the session, to revoke it or to find other data that belongs to it: 22
  /// characters; empty until something is set.
  [[nodiscard]] const std::string& id() const noexcept SKUA_LIFETIMEBOUND { return id_; }
  [[nodiscard]] bool is_empty() const noexcept { return values_.empty(); }

 private:
  friend class middleware::SessionKeeper;
  struct Value {
    std::string name;
    std::string value;
  };

  void change();

  std::vector<Value> values_;
  std::string id_;
  std::chrono::sys_seconds begun_{};
  std::size_t size_bytes_ = 0;  // of the values, as sealed
  std::size_t max_bytes_ = 0;
  bool is_changed_ = false;
  bool is_begun_anew_ = true;
  bool is_due_ = false;      // to be sealed again, changed or not
  bool has_cookie_ = false;  // the client sent one that could be opened
  mutable bool is_used_ = false;
  friend Session& session(Request& request);
  friend const Session& session(const Request& request);
};

/// Options of sessions().
struct SessionOptions {
  /// Random secrets of at least 32 bytes: the first encrypts, all decrypt. To rotate, put a new key
  /// first, and remove the old one after `idle` has passed.
  std::vector<std::string> keys{};
  /// The name of the cookie, sent as `__Host-session` if `secure`, which no other host can set.
  std::string name = "session";
  /// How long a session lasts without a visit; a visit after half of that time renews it.
  std::chrono::seconds idle = 24h;
  /// How long a session lasts in any case; zero: forever.
  std::chrono::seconds lifetime = 24h * 30;
  /// Whether browsers send the cookie over TLS only; turn it off for experiments without TLS.
  bool secure = true;
  SameSite same_site = SameSite::Lax;
};

/// A guard that opens the session and a finisher that sends it, if it changed; see sessions().
class SKUA_API Sessions final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit Sessions(SessionOptions options);
  std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  std::shared_ptr<const middleware::SessionKeeper> keeper_;  // shared by the copies
};

/// Returns sessions for a router and those mounted on it:
///
/// ```cpp
/// router.use(skua::sessions({.keys = {secret_from_a_file}}));
/// router.post("/name/{name}", [](skua::Request& request, std::string_view name) {
///   skua::session(request).set("name", name);
///   return "Hello!";
/// });
/// ```
///
/// A cookie that is forged, expired or encrypted with a removed key gives an empty session, never
/// an error. A response to a request whose session was used is `Cache-Control: private` by default.
///
/// Ends with: std::invalid_argument if there is no key, a key is too short, the name is not a
///            token, or skua was built without OpenSSL.
[[nodiscard]] SKUA_API Sessions sessions(SessionOptions options);

/// Returns the session of a request.
///
/// Ends with: std::logic_error if sessions() is not in use for its path.
[[nodiscard]] SKUA_API Session& session(Request& request SKUA_LIFETIMEBOUND);
[[nodiscard]] SKUA_API const Session& session(const Request& request SKUA_LIFETIMEBOUND);

}  // namespace skua
