// SPDX-License-Identifier: MIT
// In: a host. Out: its addresses. A name that is not cached is looked up once, by a thread, for all
// of its waiters. When the last of them is gone, its place among the lookups is free for another
// name; a late answer is still cached for the next caller.
#include "sockets/resolver.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/ascii.hpp"
#include "loop/clock.hpp"
#include "loop/timed_wait.hpp"

namespace skua::sockets {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), ascii::to_lower);
  return text;
}

/// RFC 6761 §6.3: these names never go to a name server.
bool is_localhost(std::string_view host) noexcept {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host == "localhost" || host.ends_with(".localhost");
}

Addresses at_port(Addresses addresses, std::uint16_t port) {
  for (Address& address : addresses) address = address.with_port(port);
  return addresses;
}

}  // namespace

/// A cached name. Shared with its lookup, which only passes it to the loop's thread.
struct Resolver::Name {
  void answer_with(Result<Addresses> got, loop::Instant now) {
    if (got && got->empty()) got = Error(Errc::NameNotResolved, "it has no address");
    expires = later(now, got ? cache_time : failure_time);
    answer = std::move(got);
    is_answered = true;
    waiters.wake_all();
  }

  Duration cache_time{};
  Duration failure_time{};
  std::weak_ptr<LookupThreads::Lookup> lookup{};  // keeps this object alive
  std::size_t askers = 0;
  bool is_answered = false;
  Result<Addresses> answer = Errc::None;
  loop::Instant expires{};  // set once it is answered
  skua::detail::WaiterList waiters{};
};

/// A waiter for a name. The last one gives up an unfinished lookup.
class Resolver::Asker {
 public:
  Asker(Resolver& resolver, const std::string& host, Name& name) noexcept
      : resolver_(resolver), host_(host), name_(name) {
    ++name_.askers;
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  ~Asker() {
    if (--name_.askers == 0 && !name_.is_answered) resolver_.give_up(host_, name_);
  }

 private:
  Resolver& resolver_;
  const std::string& host_;
  Name& name_;
};

Resolver::Resolver(loop::Loop& loop, ResolverOptions options)
    : loop_(loop), options_(std::move(options)), lookups_(options_.lookups) {}

Resolver::~Resolver() = default;

Task<Result<Addresses, Problem>> Resolver::resolve(std::string host, std::uint16_t port,
                                                   net::TimeLimit limit) {
  host = lower(std::move(host));
  std::optional<Addresses> at_once = known(host, port);
  const std::string step = "resolve " + host;
  if (at_once) co_return of_family(*std::move(at_once), step);
  const std::shared_ptr<Name> name = find_or_ask(host);
  const Asker asker(*this, host, *name);
  const loop::Instant began = loop_.now();
  while (!name->is_answered) {
    const Duration left = limit.time - (loop_.now() - began);
    if (left <= Duration(0)) co_return net::timed_out(step, limit);
    co_await loop::TimedWait(loop_, name->waiters, left);
  }
  if (!name->answer) co_return net::could_not(step, name->answer.error());
  co_return of_family(at_port(*name->answer, port), step);
}

Result<Addresses, Problem> Resolver::of_family(Addresses addresses, const std::string& step) const {
  const Address::Family family = options_.family;
  if (family == Address::Family::None) return addresses;
  std::erase_if(addresses,
                [family](const Address& one) { return one.is_ip() && one.family() != family; });
  if (addresses.empty()) return net::could_not(step, net::has_no_address(family));
  return addresses;
}

std::optional<Addresses> Resolver::known(std::string_view host, std::uint16_t port) const {
  for (const HostOverride& one : options_.overrides) {
    if (!ascii::equals_ignoring_case(one.host, host)) continue;
    if (one.port != 0 && one.port != port) continue;
    const bool lacks_port = one.address.is_ip() && one.address.port() == 0;
    return Addresses{lacks_port ? one.address.with_port(port) : one.address};
  }
  if (const auto address = Address::parse(host, port)) return Addresses{*address};
  if (!is_localhost(host)) return std::nullopt;
  Addresses loopback;
  for (const char* const text : {"::1", "127.0.0.1"}) {
    if (const auto address = Address::parse(text, port)) loopback.push_back(*address);
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
  name->cache_time = options_.cache_time;
  name->failure_time = options_.failure_time;
  names_.emplace(host, name);
  try {
    ask(host, name);
  } catch (const std::bad_alloc&) {  // its lookup was not started
    names_.erase(host);
    throw;
  }
  return name;
}

void Resolver::ask(const std::string& host, const std::shared_ptr<Name>& name) {
  // Runs on the lookup's thread, perhaps after this object and the loop are gone.
  const auto done = [name, mailbox = loop_.mailbox()](Result<Addresses> answer) {
    mailbox->post([name, answer = std::move(answer)]() mutable {
      name->answer_with(std::move(answer), loop::Loop::current().now());
    });
  };
  const std::shared_ptr<LookupThreads::Lookup> lookup = lookups_.start(host, done);
  name->lookup = lookup;
  if (lookup != nullptr) return;
  // This says nothing about the name, so it is not cached.
  names_.erase(host);
  name->answer_with(Error(Errc::Overloaded, "resolve"), loop_.now());
}

/// Forgets the name, unless its lookup is running and will bring an answer.
void Resolver::give_up(const std::string& host, Name& name) {
  const std::shared_ptr<LookupThreads::Lookup> lookup = name.lookup.lock();
  if (lookup == nullptr || lookups_.abandon(*lookup)) names_.erase(host);
}

/// Evicts only names that are answered: LookupOptions bounds the number of the others.
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

}  // namespace skua::sockets
