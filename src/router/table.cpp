// SPDX-License-Identifier: MIT
// In: a method and a canonical path. Out: the route, and the scope whose middleware is around it. A
// path is in the scope of every mount above it, whichever route matches it, so that no route
// registered elsewhere bypasses a mount's guards.
#include "router/table.hpp"

#include <cstdint>
#include <cstring>

#include "router/tree.hpp"

namespace skua::router {

void Table::find(Method method, std::string_view path, Match& match) const noexcept {
  tree_.find(method, path, match);
  match.scope = scopes_.size() == 1 ? scopes_.front().get() : &scope_of(path);
  match.has_coroutine = match.scope->has_coroutine;
  if (match.route != nullptr) {
    match.has_coroutine = match.has_coroutine || match.route->handler.start != nullptr;
    return;
  }
  // RFC 9110 §9.3.7: an asterisk means the server as a whole.
  if (path == "*" && method == Method::Options) {
    match.allowed = static_cast<MethodSet>(allowed_anywhere_ | bit(Method::Options));
  }
}

const Scope& Table::scope_of(std::string_view path) const noexcept {
  std::size_t i = scopes_.size() - 1;
  while (i != 0 && !is_below(path, scopes_[i]->prefix)) --i;
  return *scopes_[i];
}

std::size_t count_steps(const Scope& scope) noexcept {
  std::size_t count = 0;
  for (const Scope* at = &scope; at != nullptr; at = at->parent) count += at->steps.size();
  return count;
}

const Step& step_at(const Scope& scope, std::size_t index) noexcept {
  const std::size_t before = scope.parent == nullptr ? 0 : count_steps(*scope.parent);
  return index >= before ? scope.steps[index - before] : step_at(*scope.parent, index);
}

std::size_t hash(std::string_view path) noexcept {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15U;
  std::uint64_t state = path.size() * odd;
  const auto mix = [&](const char* from, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    state = (state ^ word) * odd;
    state ^= state >> 32U;
  };
  while (path.size() > sizeof(std::uint64_t)) {
    mix(path.data(), sizeof(std::uint64_t));
    path.remove_prefix(sizeof(std::uint64_t));
  }
  mix(path.data(), path.size());
  return static_cast<std::size_t>(state);
}

// The state of one lookup.
struct Tree::Search {
  Method method;
  Match& match;

  const Route* take(const Endpoint* endpoint) const noexcept {
    if (endpoint == nullptr) return nullptr;
    const Route* const route = endpoint->find(method);
    if (route == nullptr) match.allowed |= endpoint->allowed();
    return route;
  }

  void capture(std::string_view text) const noexcept {
    match.captures.texts[match.captures.count++] = {text.data(), text.size()};
  }

  // `path` begins at the segment that the children of `node` match.
  const Route* descend(const Node& node, std::string_view path) const noexcept {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    const auto go_on = [&](const Node& child) noexcept {
      return slash == path.npos ? take(child.here.get()) : descend(child, path.substr(slash + 1));
    };
    if (const Node* const child = node.literal(segment)) {
      if (const Route* const route = go_on(*child)) return route;
    }
    if (node.wildcard && !segment.empty()) {
      capture(segment);
      if (const Route* const route = go_on(*node.wildcard)) return route;
      --match.captures.count;
    }
    if (node.the_rest) {
      capture(path);
      if (const Route* const route = take(node.the_rest.get())) return route;
      --match.captures.count;
    }
    return nullptr;
  }
};

const Endpoint* Tree::find_exact(std::string_view path) const noexcept {
  if (slots_.empty()) return nullptr;
  std::size_t slot = hash(path) & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    const Exact& exact = exact_[slots_[slot] - 1];
    if (exact.path == path) return exact.endpoint;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return nullptr;
}

void Tree::find(Method method, std::string_view path, Match& match) const noexcept {
  const Endpoint* const exact = find_exact(path);
  if (exact != nullptr) match.route = exact->find(method);
  // A literal comes first in every segment, so nothing is more specific than the whole path.
  if (match.route == nullptr && path.starts_with('/')) {
    match.route = Search{method, match}.descend(*root_, path.substr(1));
  }
  if (match.route != nullptr) match.captures.route = match.route;
}

}  // namespace skua::router
