// SPDX-License-Identifier: MIT
// A host in, its addresses out. A name that is not remembered gets a task which asks a thread and
// wakes all who wait for it; who waits too long goes away, and the answer is kept for the next.
#include "client/resolver.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "client/timed_wait.hpp"

namespace skua::client {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), ascii::to_lower);
  return text;
}

/// RFC 6761 §6.3: no name server is asked for these.
bool is_localhost(std::string_view host) noexcept {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host == "localhost" || host.ends_with(".localhost");
}

Addresses at_port(Addresses addresses, std::uint16_t port) {
  for (net::Address& address : addresses) address = address.with_port(port);
  return addresses;
}

}  // namespace

struct Resolver::Name {
  bool is_answered = false;
  Result<Addresses> answer = Errc::None;
  loop::Instant expires{};  // once it is answered
  skua::detail::WaiterList waiters{};
};

Resolver::Resolver(loop::Loop& loop, ResolverOptions options)
    : loop_(loop), options_(std::move(options)) {}

Resolver::~Resolver() = default;

Task<Outcome<Addresses>> Resolver::resolve(std::string host, std::uint16_t port, Duration limit) {
  host = lower(std::move(host));
  std::optional<Addresses> at_once = known(host, port);
  if (at_once) co_return *std::move(at_once);
  const std::string step = "resolve " + host;
  const std::shared_ptr<Name> name = find_or_ask(host);
  const loop::Instant began = loop_.now();
  while (!name->is_answered) {
    const Duration left = limit - (loop_.now() - began);
    if (left <= Duration(0)) co_return timed_out(step, limit);
    co_await TimedWait(loop_, name->waiters, left);
  }
  if (!name->answer) co_return could_not(step, name->answer.error());
  co_return at_port(*name->answer, port);
}

std::optional<Addresses> Resolver::known(std::string_view host, std::uint16_t port) const {
  for (const HostOverride& one : options_.overrides) {
    if (!ascii::equals_ignoring_case(one.host, host)) continue;
    if (one.port != 0 && one.port != port) continue;
    const bool lacks_port = one.address.is_ip() && one.address.port() == 0;
    return Addresses{lacks_port ? one.address.with_port(port) : one.address};
  }
  if (const auto address = net::Address::parse(host, port)) return Addresses{*address};
  if (!is_localhost(host)) return std::nullopt;
  Addresses loopback;
  for (const char* const text : {"::1", "127.0.0.1"}) {
    if (const auto address = net::Address::parse(text, port)) loopback.push_back(*address);
  }
  return loopback;
}

std::shared_ptr<Resolver::Name> Resolver::find_or_ask(const std::string& host) {
  const auto found = names_.find(host);
  if (found != names_.end()) {
    const std::shared_ptr<Name>& name = found->second;
    if (!name->is_answered || loop_.now() < name->expires) return name;
    names_.erase(found);
  }
  make_room();
  const auto name = std::make_shared<Name>();
  names_.emplace(host, name);
  lookups_.spawn(ask(host, name));
  return name;
}

Task<> Resolver::ask(std::string host, std::shared_ptr<Name> name) {
  const auto look_up = [call = options_.look_up, host = std::move(host)] { return call(host); };
  Result<Addresses> answer = Errc::None;
  bool was_asked = true;
  try {
    answer = co_await offload(look_up);
  } catch (const Exception& refused) {
    answer = refused.error();
    was_asked = false;
  } catch (...) {
    answer = Error(Errc::NameNotResolved, "the lookup failed");
  }
  if (answer && answer->empty()) answer = Error(Errc::NameNotResolved, "it has no address");
  // That no thread was free says nothing about the name.
  const Duration failure_time = was_asked ? options_.failure_time : Duration(0);
  name->expires = loop_.now() + (answer ? options_.cache_time : failure_time);
  name->answer = std::move(answer);
  name->is_answered = true;
  name->waiters.wake_all();
}

/// What is being looked up stays: the pool bounds how many those are.
void Resolver::make_room() {
  if (names_.size() < options_.cache_entries) return;
  const loop::Instant now = loop_.now();
  std::erase_if(names_, [now](const auto& entry) {
    return entry.second->is_answered && entry.second->expires <= now;
  });
  const auto goes_first = [](const auto& a, const auto& b) {
    const auto rank = [](const Name& name) { return std::pair(!name.is_answered, name.expires); };
    return rank(*a.second) < rank(*b.second);
  };
  while (!names_.empty() && names_.size() >= options_.cache_entries) {
    const auto first = std::ranges::min_element(names_, goes_first);
    if (!first->second->is_answered) return;
    names_.erase(first);
  }
}

}  // namespace skua::client
