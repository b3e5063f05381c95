// SPDX-License-Identifier: MIT
// In: time. Out: checks of the members of a group, and the addresses of its names.
#include "proxy/upkeep.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "client/fetch.hpp"
#include "client/request_spec.hpp"
#include "crypto/random.hpp"
#include "sockets/proxy_header.hpp"

namespace skua::proxy {
namespace {

constexpr Duration lookup_limit = 10s;
constexpr std::size_t checked_bytes = 64_KiB;  // of a response's content

/// A client for one request.
class OneUse final {
 public:
  explicit OneUse(std::shared_ptr<client::Core> core) noexcept : core_(std::move(core)) {}
  OneUse(const OneUse&) = delete;
  OneUse& operator=(const OneUse&) = delete;
  ~OneUse() { core_->break_off(); }

  [[nodiscard]] const std::shared_ptr<client::Core>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<client::Core> core_;  // shared with its connections
};

// It is about the proxy itself, so the header names nobody.
std::string header_of(ProxyProtocol version) {
  if (version == ProxyProtocol::Off) return {};
  return version == ProxyProtocol::V1 ? sockets::text_proxy_header({}, {})
                                      : sockets::binary_proxy_header({}, {}, false);
}

std::unique_ptr<client::RequestSpec> make_check(const UpstreamHealth& health,
                                                ProxyProtocol proxy_protocol) {
  auto spec = std::make_unique<client::RequestSpec>();
  const std::optional<Method> method = parse_method(health.method);
  spec->method = method.value_or(Method::Other);
  if (!method) spec->other_method = health.method;
  spec->forwarding =
      client::Forwarding{.target = health.path, .preface = header_of(proxy_protocol)};
  spec->fields.add("User-Agent", "skua-health-check");
  if (!health.host.empty()) spec->fields.add("Host", health.host);
  spec->timeout = health.timeout;
  spec->decompress = false;
  return spec;
}

sockets::ResolverOptions resolver_options(const Endpoints& endpoints) {
  sockets::ResolverOptions made = client::resolver_options(endpoints.front().options());
  made.cache_time = Duration::zero();
  return made;
}

bool is_expected(std::uint16_t status, const UpstreamHealth& health) noexcept {
  return health.status != 0 ? status == health.status : status >= 200 && status < 400;
}

// Returns why the content of a response does not pass; empty if it does.
Task<std::string> lacks_content(client::IncomingResponse& response, const UpstreamHealth& health) {
  std::string seen;
  while (seen.size() < checked_bytes) {
    const Result<std::optional<Bytes>, Problem> piece = co_await response.read();
    if (!piece) co_return piece.error().text;
    const std::optional<Bytes>& bytes = *piece;
    if (!bytes) break;
    seen.append(text(*bytes));
  }
  if (seen.find(health.content) != seen.npos) co_return std::string();
  co_return response.step() + ": its content lacks the text of the check";
}

}  // namespace

/// Gives the upkeep up when a task of it ends, also because of a failure.
class Upkeep::Term final {
 public:
  explicit Term(Upkeep& upkeep) noexcept : upkeep_(upkeep) {}
  Term(const Term&) = delete;
  Term& operator=(const Term&) = delete;
  ~Term() { upkeep_.give_up(); }

 private:
  Upkeep& upkeep_;
};

Upkeep::Upkeep(loop::Loop& loop, std::shared_ptr<Group> group,
               std::weak_ptr<const Endpoints> endpoints)
    : loop_(loop),
      group_(std::move(group)),
      endpoints_(std::move(endpoints)),
      draw_(crypto::random_word()),
      resolver_(loop, resolver_options(*endpoints_.lock())) {
  const UpstreamOptions& options = group_->options();
  if (!options.health.path.empty()) tasks_.spawn(check_all());
  for (std::size_t i = 0; i < options.targets.size(); ++i) {
    if (options.targets[i].each_address && group_->servers()[i].has_name()) {
      tasks_.spawn(look_up(i));
    }
  }
}

Upkeep::~Upkeep() { give_up(); }

// The next request that is passed on makes its loop take over.
void Upkeep::give_up() noexcept {
  if (!std::exchange(is_over_, true)) group_->leave_upkeep();
}

// Gateways that were started together are not to check together.
Duration Upkeep::around(Duration time) noexcept {
  const double factor = 0.9 + 0.2 * draw_.unit();
  return Duration(static_cast<Duration::rep>(static_cast<double>(time.count()) * factor));
}

// The first round is made at once; later ones are spread over the interval.
Task<> Upkeep::check_all() {
  const Term term(*this);
  const Duration interval = group_->options().health.interval;
  for (bool is_first = true; !is_over_; is_first = false) {
    const std::shared_ptr<const Endpoints> endpoints = endpoints_.lock();
    if (endpoints == nullptr) co_return;
    const std::shared_ptr<const Members> members = group_->members();
    const Duration pause = around(interval) / static_cast<Duration::rep>(members->size());
    for (const std::shared_ptr<Member>& member : *members) {
      const Endpoint& endpoint = (*endpoints)[member->target];
      tasks_.spawn(check(member,
                         endpoint.make_client(loop_, member->address, &group_->options().health),
                         endpoint.proxy_protocol()));
      if (!is_first) co_await sleep(pause);
    }
    if (is_first) co_await sleep(around(interval));
  }
}

// Each check has a connection of its own, as only that shows that new ones are accepted.
Task<> Upkeep::check(std::shared_ptr<Member> member, std::shared_ptr<client::Core> client,
                     ProxyProtocol proxy_protocol) {
  const UpstreamHealth& health = group_->options().health;
  const OneUse used(std::move(client));
  Fetched got = co_await client::fetch(used.core(), make_check(health, proxy_protocol));
  std::string problem;
  if (!got && member->is_our_own(got.error().error)) {
    if (!std::exchange(lacks_means_, true)) {
      group_->log(LogLevel::Warning, "its servers cannot be checked: " + got.error().text);
    }
    co_return;
  }
  lacks_means_ = false;
  if (!got) {
    problem = got.error().text;
  } else if (!is_expected((*got)->head().status, health)) {
    problem = (*got)->unexpected_status().text;
  } else if (!health.content.empty()) {
    std::string lacking = co_await lacks_content(**got, health);
    problem = std::move(lacking);
  }
  if (got && health.content.empty()) co_await (*got)->discard();
  group_->note_check(*member, problem, loop_.now());
}

// New addresses get requests once they have passed a check.
void Upkeep::check_new() {
  const std::shared_ptr<const Endpoints> endpoints = endpoints_.lock();
  if (endpoints == nullptr || group_->options().health.path.empty()) return;
  const std::shared_ptr<const Members> members = group_->members();
  for (const std::shared_ptr<Member>& member : *members) {
    if (!member->is_new.load(std::memory_order_relaxed)) continue;
    const Endpoint& endpoint = (*endpoints)[member->target];
    tasks_.spawn(check(member,
                       endpoint.make_client(loop_, member->address, &group_->options().health),
                       endpoint.proxy_protocol()));
  }
}

Task<> Upkeep::look_up(std::size_t target) {
  const Term term(*this);
  const Url& url = group_->servers()[target].url;
  const std::string host = url.hostname();
  const std::uint16_t port = url.effective_port().value_or(0);
  const net::TimeLimit limit{.time = lookup_limit};
  bool was_found = true;
  while (!is_over_ && !endpoints_.expired()) {
    const auto found = co_await resolver_.resolve(host, port, limit);
    if (found) {
      group_->replace(target, *found, loop_.now());
      check_new();
    } else if (was_found) {  // the addresses stay
      group_->log(LogLevel::Warning, found.error().text);
    }
    was_found = found.has_value();
    co_await sleep(around(group_->options().resolve_interval));
  }
}

}  // namespace skua::proxy
