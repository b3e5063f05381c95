// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "skua/address.hpp"
#include "skua/attachments.hpp"
#include "skua/config.hpp"
#include "skua/tls.hpp"

namespace skua {

/// The connection of a request: one object for all requests that arrive on it, including the
/// concurrent ones of HTTP/2, and for their WebSockets.
///
/// ```cpp
/// struct Visits { int count = 0; };
/// router.get("/", [](skua::Request& request) {
///   return std::to_string(++request.connection().state<Visits>().count);
/// });
/// ```
/// A connection whose object is never asked for does not make one.
///
/// Lifetime:  from the first use until the connection is closed, after all its handlers. Belongs to
///            the connection's thread, and so do the destructors of what is kept in it.
class Connection final {
 public:
  struct Facts {
    std::uint64_t id = 0;
    Address peer{};
    Address local{};
    std::optional<TlsInfo> tls{};
  };

  /// For servers and tests.
  explicit Connection(Facts facts) noexcept : facts_(std::move(facts)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  /// A number, from 1, that no other connection of this server has had since it was started.
  [[nodiscard]] std::uint64_t id() const noexcept { return facts_.id; }
  /// The client's address; a proxy's if there is one, unless that begins its connections with a
  /// PROXY header. Family::None if the client was gone already when the object was made.
  [[nodiscard]] const Address& peer_address() const noexcept SKUA_LIFETIMEBOUND {
    return facts_.peer;
  }
  /// The server's address that the client has connected to.
  [[nodiscard]] const Address& local_address() const noexcept SKUA_LIFETIMEBOUND {
    return facts_.local;
  }
  /// Null without TLS.
  [[nodiscard]] const TlsInfo* tls() const noexcept SKUA_LIFETIMEBOUND {
    return facts_.tls ? &*facts_.tls : nullptr;
  }

  /// The values kept with the connection, by type.
  [[nodiscard]] Attachments& attachments() noexcept SKUA_LIFETIMEBOUND { return attachments_; }
  [[nodiscard]] const Attachments& attachments() const noexcept SKUA_LIFETIMEBOUND {
    return attachments_;
  }
  /// Returns the value of type T that is kept with the connection, and makes it when first called.
  template <class T>
  [[nodiscard]] T& state() SKUA_LIFETIMEBOUND {
    static_assert(std::is_default_constructible_v<T>,
                  "state<T>() makes a T(): for other types use attachments().set() and find()");
    return attachments_.get<T>();
  }

 private:
  const Facts facts_;
  Attachments attachments_{};
};

namespace detail {

/// Makes the Connection of a request when it is first asked for.
class ConnectionSource {
 public:
  [[nodiscard]] virtual Connection& connection() = 0;

 protected:
  ~ConnectionSource() = default;
};

}  // namespace detail
}  // namespace skua
