// SPDX-License-Identifier: MIT
// In: patterns that were checked when the program was compiled, and canonical paths. Out: the most
// specific route. The idea: a path that is a pattern itself is found by one hash look-up; any other
// walks a tree of segments. Matching allocates nothing and writes only to the match.
#include "router/tree.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "skua/pattern.hpp"

namespace skua::router {
namespace {

std::string line_of(const Route& route) {
  return std::string(route.where.file_name()) + ":" + std::to_string(route.where.line());
}

[[noreturn]] void refuse(const Route& present, const Route& added, std::string_view method) {
  throw std::invalid_argument("route " + std::string(method) + " " + added.pattern + " of " +
                              line_of(added) + " is there already: " + present.pattern + " of " +
                              line_of(present));
}

// The paths are the program's own, so nobody can choose them to collide.
std::size_t hash(std::string_view text) noexcept {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15U;
  std::uint64_t state = text.size() * odd;
  const auto mix = [&](const char* from, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    state = (state ^ word) * odd;
    state ^= state >> 32U;
  };
  while (text.size() > sizeof(std::uint64_t)) {
    mix(text.data(), sizeof(std::uint64_t));
    text.remove_prefix(sizeof(std::uint64_t));
  }
  mix(text.data(), text.size());
  return static_cast<std::size_t>(state);
}

bool is_shorter_or_less(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : std::memcmp(a.data(), b.data(), a.size()) < 0;
}

}  // namespace

void Endpoint::add(const Route& route) {
  if (route.is_any) {
    if (any_ != nullptr) refuse(*any_, route, "any");
    any_ = &route;
  }
  for (std::size_t i = 0; i < method_count; ++i) {
    if ((route.methods >> i & 1U) == 0) continue;
    if (own_[i] != nullptr) refuse(*own_[i], route, name(static_cast<Method>(i)));
    own_[i] = &route;
  }
  for (std::size_t i = 0; i < method_count; ++i) {
    const Route* found = own_[i];
    // RFC 9110 §9.3.2: HEAD is GET without the content.
    if (found == nullptr && static_cast<Method>(i) == Method::Head) {
      found = own_[static_cast<std::size_t>(Method::Get)];
    }
    if (found == nullptr) found = any_;
    effective_[i] = found;
    if (found != nullptr) allowed_ = static_cast<MethodSet>(allowed_ | bit(static_cast<Method>(i)));
  }
}

struct Tree::Node {
  struct Edge {
    std::string segment;
    std::unique_ptr<Node> node;
  };

  [[nodiscard]] auto position(std::string_view segment) const noexcept {
    return std::lower_bound(edges.begin(), edges.end(), segment,
                            [](const Edge& edge, std::string_view wanted) {
                              return is_shorter_or_less(edge.segment, wanted);
                            });
  }
  [[nodiscard]] const Node* literal(std::string_view segment) const noexcept {
    const auto at = position(segment);
    return at != edges.end() && at->segment == segment ? at->node.get() : nullptr;
  }
  Node& add_literal(std::string_view segment) {
    const auto at = position(segment);
    if (at != edges.end() && at->segment == segment) return *at->node;
    return *edges.insert(at, Edge{std::string(segment), std::make_unique<Node>()})->node;
  }
  Node& add_wildcard() {
    if (!wildcard) wildcard = std::make_unique<Node>();
    return *wildcard;
  }
  static Endpoint& made(std::unique_ptr<Endpoint>& endpoint) {
    if (!endpoint) endpoint = std::make_unique<Endpoint>();
    return *endpoint;
  }

  std::vector<Edge> edges;             // sorted by size, then bytes
  std::unique_ptr<Node> wildcard;      // {name}
  std::unique_ptr<Endpoint> here;      // a pattern that ends here
  std::unique_ptr<Endpoint> the_rest;  // {name...}
};

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

Tree::Tree() : root_(std::make_unique<Node>()) {}
Tree::~Tree() = default;
Tree::Tree(Tree&&) noexcept = default;
Tree& Tree::operator=(Tree&&) noexcept = default;

void Tree::add(std::string_view pattern, const Route& route) {
  Node* node = root_.get();
  for (std::string_view rest = pattern.substr(1);;) {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    if (segment.ends_with("...}")) return Node::made(node->the_rest).add(route);
    node = segment.starts_with('{') ? &node->add_wildcard() : &node->add_literal(segment);
    if (slash == rest.npos) break;
    rest.remove_prefix(slash + 1);
  }
  Endpoint& endpoint = Node::made(node->here);
  endpoint.add(route);
  if (pattern.find('{') == pattern.npos) add_exact(pattern, endpoint);
}

void Tree::add_exact(std::string_view path, const Endpoint& endpoint) {
  if (find_exact(path) != nullptr) return;
  exact_.push_back({std::string(path), &endpoint});
  slots_.assign(std::bit_ceil(exact_.size() * 2), 0);
  for (std::uint32_t i = 0; i < exact_.size(); ++i) {
    std::size_t slot = hash(exact_[i].path) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = i + 1;
  }
}

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
