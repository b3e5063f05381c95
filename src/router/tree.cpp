// SPDX-License-Identifier: MIT
// In: canonical paths. Out: the most specific route. The idea: a path that is a pattern itself is
// found by one hash look-up; any other walks a tree of segments. Matching allocates nothing and
// writes only to the match.
#include "router/tree.hpp"

#include <cstdint>
#include <cstring>

#include "router/tree_node.hpp"

namespace skua::router {

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

// One look-up: what it is for and what it has found so far.
struct Tree::Search {
  Method method;
  Match& match;

  const Route* take(const Endpoint* endpoint) const noexcept {
    if (endpoint == nullptr) return nullptr;
    const Route* const route = endpoint->find(method);
    if (route == nullptr)
      match.allowed = static_cast<MethodSet>(match.allowed | endpoint->allowed());
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
  // A literal comes first in every segment, so that nothing is more specific than the whole path.
  if (match.route == nullptr && path.starts_with('/')) {
    match.route = Search{method, match}.descend(*root_, path.substr(1));
  }
  if (match.route != nullptr) match.captures.names = &match.route->names;
}

}  // namespace skua::router
