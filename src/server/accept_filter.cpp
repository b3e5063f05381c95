// SPDX-License-Identifier: MIT
// In: connections as they are accepted. Out: those that are served. The others are reset: no byte
// was sent that could be lost, and a flood of them leaves nothing behind, neither TIME_WAIT nor
// lines in a log.
#include "server/accept_filter.hpp"

#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "async/guarded.hpp"
#include "loop/clock.hpp"
#include "net/log.hpp"
#include "server/proxies/support.hpp"
#include "skua/ip_filter.hpp"
#include "skua/trusted_proxies.hpp"

namespace skua::server {
namespace {

/// Between two log entries about a filter that throws. Counters has their number.
constexpr Duration log_interval = 1s;

base::Counter& counter_of(ConnectionRefusal why, WorkerCounters& counters) noexcept {
  switch (why) {
    case ConnectionRefusal::IpFilter: return counters.refused_by_ip_filter;
    case ConnectionRefusal::Callback: return counters.refused_by_callback;
    case ConnectionRefusal::UntrustedProxy: return counters.refused_untrusted_proxies;
    case ConnectionRefusal::CallbackFailed: break;
  }
  return counters.failed_accepts;
}

}  // namespace

Socket AcceptFilter::admit(Socket connection) {
  const bool admits_all =
      options_.ip_filter == nullptr && !options_.accepts && options_.trusted_proxies == nullptr;
  if (admits_all) [[likely]]
    return connection;
  const Address peer = connection.peer_address();
  if (peer.family() == Address::Family::None) return {};  // the peer has reset it already
  const std::optional<ConnectionRefusal> why = refusal(peer);
  if (!why) return connection;
  StreamSocket refused(std::move(connection));
  static_cast<void>(refused.set_linger(std::chrono::seconds(0)));
  refused.close();
  ++counter_of(*why, counters_);
  if (const auto& tell = options_.hooks.on_connection_refused) tell(peer.to_string(), *why);
  return {};
}

std::optional<ConnectionRefusal> AcceptFilter::refusal(const Address& peer) {
  if (options_.ip_filter != nullptr && !options_.ip_filter->accepts(peer)) {
    return ConnectionRefusal::IpFilter;
  }
  const auto& proxies = options_.trusted_proxies;
  if (proxies != nullptr && !proxies->support()->admits(peer)) {
    return ConnectionRefusal::UntrustedProxy;
  }
  if (!options_.accepts) return std::nullopt;
  try {
    if (options_.accepts(peer)) return std::nullopt;
    return ConnectionRefusal::Callback;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    log_failure(async::thrown_text());
  }
  return ConnectionRefusal::CallbackFailed;
}

void AcceptFilter::log_failure(std::string_view why) {
  const auto& log = options_.hooks.log;
  if (!log || loop_.now() < quiet_until_) return;
  quiet_until_ = later(loop_.now(), log_interval);
  net::tell(log, LogLevel::Error, {"the accept filter failed: ", why});
}

}  // namespace skua::server
