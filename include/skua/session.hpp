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
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

namespace middleware {
class SessionKeeper;
}

/// What is kept about a visitor from request to request: small texts by name, in a cookie that is
/// encrypted and signed, so that a server keeps nothing and many servers share it.
///
/// One thread at a time. Of two requests at once that change it, the later answer wins.
class Session final {
 public:
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;
  /// Ends with: std::length_error where the session would no longer fit into a cookie.
  void set(std::string_view name, std::string_view value);
  void erase(std::string_view name);
  /// Forgets everything; the cookie is deleted.
  void clear();
  /// Gives the session a new id and a new beginning, with what it has: call it when somebody logs
  /// in.
  void regenerate();

  /// Names the session as long as it lives, to revoke it or to find what else belongs to it: 22
  /// letters; empty until something was set.
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
  std::size_t size_bytes_ = 0;  // of the values, as they are sealed
  std::size_t most_bytes_ = 0;
  bool is_changed_ = false;
  bool is_begun_anew_ = true;
  bool is_due_ = false;      // to be sealed again, changed or not
  bool has_cookie_ = false;  // the client sent one that could be opened
  mutable bool is_used_ = false;
  friend Session& session(Request& request);
  friend const Session& session(const Request& request);
};

/// How sessions are kept.
struct SessionOptions {
  /// Secrets of at least 32 bytes, random ones: the first seals, all of them open. To change the
  /// key put a new one in front, and drop the old one when `idle` has passed.
  std::vector<std::string> keys{};
  /// Of the cookie; with `secure` it is sent as `__Host-session`, which no other host can set.
  std::string name = "session";
  /// How long a session lasts without a visit; half-way a visit renews it.
  std::chrono::seconds idle = 24h;
  /// How long it lasts whatever happens; zero: for ever.
  std::chrono::seconds lifetime = 24h * 30;
  /// Whether browsers send the cookie over TLS only; off for experiments without TLS.
  bool secure = true;
  SameSite same_site = SameSite::Lax;
};

/// A guard that opens the session and a finisher that sends it, if it changed; see sessions().
class Sessions final {
 public:
  explicit Sessions(SessionOptions options);
  std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  std::shared_ptr<const middleware::SessionKeeper> keeper_;  // shared by the copies
};

/// Sessions for a router and those mounted on it:
///
/// ```cpp
/// router.use(skua::sessions({.keys = {secret_from_a_file}}));
/// router.post("/name/{name}", [](skua::Request& request, std::string_view name) {
///   skua::session(request).set("name", name);
///   return "Hello!";
/// });
/// ```
///
/// A cookie that is forged, old or of a key that is gone is an empty session, never an error.
/// A response that a session was asked for is `Cache-Control: private` unless it says otherwise.
///
/// Ends with: std::invalid_argument without keys, for one that is too short, for a name that is not
///            a token, and without OpenSSL.
[[nodiscard]] Sessions sessions(SessionOptions options);

/// The session of a request.
///
/// Ends with: std::logic_error where no sessions are in use.
[[nodiscard]] Session& session(Request& request SKUA_LIFETIMEBOUND);
[[nodiscard]] const Session& session(const Request& request SKUA_LIFETIMEBOUND);

}  // namespace skua
