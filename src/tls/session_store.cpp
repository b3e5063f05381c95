// SPDX-License-Identifier: MIT
// In: sessions by server. Out: the same sessions, newest first. A linear search will do: there are
// few, and a handshake costs far more.
#ifdef SKUA_HAS_TLS

#include "tls/session_store.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

namespace skua::tls {
namespace {

bool is_over(const SSL_SESSION& session) noexcept {
  return is_peer_expired(&session) ||
         SSL_SESSION_get_time(&session) + SSL_SESSION_get_timeout(&session) <= std::time(nullptr);
}

}  // namespace

void SessionStore::keep(std::string_view server, SessionPointer session) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return is_over(*entry.session); });
  const auto is_its = [&](const Entry& entry) { return entry.server == server; };
  if (std::ranges::count_if(entries_, is_its) >= static_cast<std::ptrdiff_t>(max_per_server)) {
    entries_.erase(std::ranges::find_if(entries_, is_its));
  }
  if (entries_.size() >= most) entries_.erase(entries_.begin());
  entries_.push_back({std::string(server), std::move(session)});
}

SessionPointer SessionStore::take(std::string_view server) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return is_over(*entry.session); });
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [&](const Entry& entry) { return entry.server == server; });
  if (found == entries_.rend()) return nullptr;
  SessionPointer session = std::move(found->session);
  entries_.erase(std::next(found).base());
  return session;
}

void SessionStore::forget(std::string_view server) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.server == server; });
}

std::size_t SessionStore::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

}  // namespace skua::tls

#endif
