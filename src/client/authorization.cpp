// SPDX-License-Identifier: MIT
// Challenges in, answers out. Digest goes before Basic: it does not show the password.
#include "client/authorization.hpp"

#include <utility>
#include <vector>

#include "client/challenges.hpp"
#include "skua/status.hpp"

namespace skua::client {
namespace {

constexpr std::size_t most_known = 64;

}  // namespace

Authorization::Authorization(BasicCredentials credentials)
    : credentials_(std::move(credentials)), digest_(credentials_.user, credentials_.password) {}

Result<std::string> Authorization::field(std::string_view method, std::string_view target,
                                         std::optional<std::string_view> content) {
  if (scheme_ == Scheme::None) return std::string();
  if (scheme_ == Scheme::Basic) return credentials_.field();
  if (!content && digest_.needs_content()) {
    return Error(Errc::Unsupported, "Digest auth-int of content that is no text");
  }
  return digest_.authorize(method, target, content.value_or(""));
}

bool Authorization::learn(const http::Head& head) {
  if (head.status == code(Status::Unauthorized)) return accept(head);
  if (scheme_ != Scheme::Digest) return false;
  const http::FieldLine* const info = head.find("authentication-info");
  // One that cannot be read tells no next nonce; the present one goes on being good.
  if (info != nullptr) static_cast<void>(digest_.advance(head.value(*info)));
  return false;
}

bool Authorization::accept(const http::Head& head) {
  const std::vector<std::string_view> fields = values_of(head, "WWW-Authenticate");
  if (digest_.accept(fields)) {
    scheme_ = Scheme::Digest;
  } else if (offers_basic(fields)) {
    scheme_ = Scheme::Basic;
  } else {
    return false;
  }
  return true;
}

Authorization& Authorizations::of(std::string_view server, const BasicCredentials& credentials) {
  std::string key(server);
  key.append(1, '\0').append(credentials.user).append(1, '\0').append(credentials.password);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (known_.size() >= most_known) known_.clear();
  return known_.emplace(std::move(key), Authorization(credentials)).first->second;
}

}  // namespace skua::client
