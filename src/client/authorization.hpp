// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "http/field.hpp"
#include "skua/credentials.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// How a name and a password are shown to one server, once it has asked: the same for request after
/// request.
class Authorization final {
 public:
  explicit Authorization(BasicCredentials credentials);

  /// The field that answers what the server has asked; empty where it has not asked yet.
  ///
  /// Ends with: Unsupported, also where the server wants the content protected, and that is not
  ///            known here; MalformedChallenge.
  Result<std::string> field(std::string_view method, std::string_view target,
                            std::optional<std::string_view> content);
  /// Looks at a response to a request that was sent with field(), if there was one.
  ///
  /// Ends with: whether the server asks, in a way that can be answered.
  [[nodiscard]] bool learn(const http::Head& head);
  /// Whether it asks again only because the last answer was too old.
  [[nodiscard]] bool is_stale() const noexcept {
    return scheme_ == Scheme::Digest && digest_.is_stale();
  }

 private:
  enum class Scheme : std::uint8_t { None, Basic, Digest };

  [[nodiscard]] bool accept(const http::Head& head);

  BasicCredentials credentials_;
  DigestSession digest_;
  Scheme scheme_ = Scheme::None;
};

/// The authorizations of a client, as many as fit: one for each server and user.
class Authorizations final {
 public:
  /// Lifetime:  until the next call.
  Authorization& of(std::string_view server, const BasicCredentials& credentials);

 private:
  std::map<std::string, Authorization, std::less<>> known_;
};

}  // namespace skua::client
