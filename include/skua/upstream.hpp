// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/log_level.hpp"
#include "skua/tls.hpp"

namespace skua {

class Metrics;
struct UpstreamOptions;

namespace proxy {
class Group;
struct UpstreamAccess;
}  // namespace proxy

/// The state of a target of an Upstream.
struct UpstreamTargetStatus {
  /// Why a target is used, or not.
  enum class State : std::uint8_t {
    Up,
    Down,      ///< its checks failed, or its address is new and was not checked yet
    Ejected,   ///< too many requests failed one after another; it gets some again after a while
    Draining,  ///< its name has other addresses now: no new requests
  };

  std::string name{};             ///< `127.0.0.1:3000`, `unix:/run/app.sock`
  State state = State::Up;        ///< of now
  std::uint64_t outstanding = 0;  ///< requests whose response is not complete yet
  std::uint64_t requests = 0;     ///< sent to it so far, without checks
  std::uint64_t failures = 0;     ///< the part of them that failed
};

/// A group of servers that can all answer the same requests: a handle, whose copies share one
/// state. A ReverseProxy sends each request to one of them.
///
/// ```cpp
/// const skua::Upstream shop({.name = "shop",
///                            .targets = {{"http://10.0.0.1:3000"}, {"http://10.0.0.2:3000"}},
///                            .health = {.path = "/livez"}});
/// skua::reverse_proxy(router, "/shop", shop);
/// ```
/// Which server gets a request, and which is left out, is decided with the knowledge of all
/// threads; each has its own connections. Thread-safe.
class SKUA_API Upstream final {
 public:
  /// Ends with: std::invalid_argument if there is no target, a URL is malformed, two paths differ,
  ///            or a number is out of its range.
  explicit Upstream(const UpstreamOptions& options);

  [[nodiscard]] const std::string& name() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the targets, in the order of the options.
  [[nodiscard]] std::vector<UpstreamTargetStatus> targets() const;

 private:
  friend struct proxy::UpstreamAccess;

  std::shared_ptr<proxy::Group> group_;  // shared by the copies, and by requests
};

/// A server of an Upstream.
struct UpstreamTarget {
  /// `http://`, `https://`, `h2c://` for HTTP/2 with prior knowledge, or `unix:/path/of/socket`.
  std::string url{};
  unsigned weight = 1;  ///< its share of the requests, against those of the others; at least 1
  /// Each address of the host's name is a target, of this weight. They are looked up again every
  /// UpstreamOptions::resolve_interval. Otherwise the name is a target, and each new connection
  /// goes to the first of its addresses that answers.
  bool each_address = false;
  std::optional<ClientTlsOptions> tls{};  ///< instead of ReverseProxyOptions::tls
};

/// How the target of a request is chosen.
enum class Balance : std::uint8_t {
  LeastOutstanding,  ///< of two targets that are drawn at random, the less busy one
  RoundRobin,        ///< one after another
  Hash,              ///< the same one for the same key, as long as it is there and not too busy
};

/// Balancing. Weights count in each way.
struct UpstreamBalance {
  Balance by = Balance::LeastOutstanding;
  std::string hash_header{};  ///< the key is the value of this field,
  std::string hash_cookie{};  ///< or of this cookie; of neither: the client's address
  /// With Hash, a target gets no more than this multiple of its share of the requests that wait for
  /// a response; the rest goes to the next one. At least 1.
  double hash_load = 1.25;
  /// So many may wait for a response in any case, so that the requests of one session stay
  /// together.
  unsigned hash_floor = 32;
  /// A target that comes back gets its whole share after this long, and less before: its caches are
  /// cold. Hash does not look at it. Zero: at once.
  Duration slow_start = Duration::zero();
};

/// Checks by requests of our own. What they say overrules what requests do: passed ones end an
/// ejection, and while the last one passed, statuses do not eject.
///
/// They begin with the first request that is passed on, and are made by one thread only. Until a
/// target has failed them, it is up.
struct UpstreamHealth {
  std::string path{};        ///< asked for; empty: no checks
  Duration interval = 5s;    ///< between two checks of a target; varies by a tenth
  Duration timeout = 2s;     ///< for the whole check; at most the interval
  unsigned rise = 2;         ///< passed checks in a row after which a target that was down is up
  unsigned fall = 3;         ///< failed checks in a row after which it is down
  std::uint16_t status = 0;  ///< that passes; zero: any 2xx or 3xx
  std::uint16_t port = 0;    ///< asked instead of the target's, such as an admin port; zero: that
  std::string method = "GET";
  std::string host{};     ///< the Host of the checks; empty: that of the target's URL
  std::string content{};  ///< a text that passes if the response has it, in its first 64 KiB
};

/// Ejection of targets whose requests fail: connections that are refused, reset or time out, and
/// malformed and incomplete responses. The statuses 502, 503 and 504 may be about what was asked
/// for, so they count only if a target answers with them far more often than the others do.
struct UpstreamEjection {
  unsigned failures = 5;     ///< in a row after which a target gets no requests; zero: never
  Duration time = 10s;       ///< for this long, doubled each time if it happens again,
  Duration max_time = 5min;  ///< up to this
  double max_share = 0.5;    ///< of the targets that may be ejected at a time
  bool on_status = true;     ///< also because of 502, 503 and 504
};

/// Limits, which count the requests of all threads. Past them, requests wait in a queue.
struct UpstreamLimits {
  std::size_t target_requests = 0;      ///< outstanding at each target; zero: no limit
  std::size_t group_requests = 0;       ///< outstanding at all of them; zero: no limit
  std::size_t queued_requests = 256;    ///< that wait at a time; others get 503
  Duration queue_time = 5s;             ///< that a request waits; then it gets 503
  std::chrono::seconds retry_after{1};  ///< the Retry-After of these
};

/// Attempts after the first one, each at another target. A request is repeated only while nothing
/// of a response has been passed on, not even an interim one, and if the target cannot have acted
/// on it, or its method is idempotent; and if its content is still there.
///
/// The budget is for requests that a target may have acted on. Failures that a client can provoke,
/// by statuses, are paid from a budget of that client. Once connections break, as many requests may
/// be repeated on credit as are outstanding.
struct UpstreamRetries {
  /// For a request, with the first, without those at targets that refuse connections; 1: no
  /// retries.
  unsigned attempts = 3;
  double budget = 0.2;  ///< retries for each request, on average, so that they do not add up
  unsigned burst = 10;  ///< retries beyond the budget after a time without any
  std::size_t content_bytes = 16_KiB;  ///< content up to this is kept: it can be sent again
  bool on_unavailable = true;          ///< also after the statuses 502, 503 and 504
  bool on_timeout = false;             ///< also after ReverseProxyTimeouts::response
};

/// Copies of requests for other servers, which try something out. Their responses are discarded,
/// and requests do not wait for them. Content of more than UpstreamRetries::content_bytes, or of
/// unknown length, is not copied: such a request is left out.
struct UpstreamMirror {
  std::optional<Upstream> to{};  ///< none: no copies
  double share = 1;              ///< of the requests that are copied
  std::size_t requests = 64;     ///< copies that are outstanding at a time; more are left out
};

/// Options of an Upstream.
struct UpstreamOptions {
  std::string name = "upstream";  ///< for logs and metrics
  /// At least one. If their URLs have a path, all have the same one.
  std::vector<UpstreamTarget> targets{};
  UpstreamBalance balance{};
  UpstreamHealth health{};
  UpstreamEjection ejection{};
  UpstreamLimits limits{};
  UpstreamRetries retries{};
  UpstreamMirror mirror{};
  /// If no target is left, those that are ejected are tried, then those that are down, because
  /// both may be wrong. Otherwise requests get 503 at once.
  bool panics = true;
  Duration resolve_interval = 30s;  ///< see UpstreamTarget::each_address; varies by a tenth
  /// Called when a target goes down, comes back, or is ejected, on any thread.
  std::function<void(LogLevel, std::string_view)> log{};
};

/// Adds metrics of upstreams, whose names have to differ. Call it once for an object.
///
/// ```cpp
/// skua::collect_upstreams(*metrics, {shop, search});
/// ```
SKUA_API void collect_upstreams(Metrics& metrics, std::vector<Upstream> upstreams);

}  // namespace skua
