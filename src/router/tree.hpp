// SPDX-License-Identifier: MIT
// The tree's nodes, shared by the lookup of a path and the registration of a pattern.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/request_parts.hpp"
#include "skua/handler.hpp"
#include "skua/method.hpp"

namespace skua::router {

struct Route;
struct Scope;
class Table;

/// Other methods have routes, too.
inline constexpr std::size_t method_slots = method_count + 1;

/// A set of methods: bit n is Method(n).
using MethodSet = std::uint32_t;
constexpr MethodSet bit(Method method) noexcept {
  return static_cast<MethodSet>(1U << static_cast<unsigned>(method));
}

/// The result of Router::match.
struct Match {
  const Route* route = nullptr;  ///< null: 404, or 405 if `allowed` is not empty
  const Scope* scope = nullptr;  ///< the scope of the path; never null
  MethodSet allowed = 0;         ///< the methods of the path, if there is no route
  bool has_coroutine = false;    ///< the handler is a coroutine, or one is around it
  bool is_malformed = false;     ///< there is no route, since the path could be read in two ways
  http::Captures captures;
};

/// One registration: a pattern, its handler, and the line that made it.
struct Route : http::RoutePattern {
  std::string alias;  ///< for the root of a mounted router: the prefix alone
  detail::Handler handler;
  MethodSet methods = 0;  ///< the registered methods
  bool is_any = false;    ///< takes every method that has no route of its own
  std::source_location where;
  const Table* table = nullptr;  ///< that has it, with all other routes
};

/// The end of a pattern in the tree: at most one route per method.
class Endpoint {
 public:
  /// Ends with: std::invalid_argument, naming both lines, if one of its methods has a route.
  void add(const Route& route);
  /// Returns the route for a method (HEAD follows GET), or null.
  [[nodiscard]] const Route* find(Method method) const noexcept {
    return effective_[static_cast<std::size_t>(method)];
  }
  /// The methods that have a route.
  [[nodiscard]] MethodSet allowed() const noexcept { return allowed_; }

 private:
  std::array<const Route*, method_slots> own_{};
  std::array<const Route*, method_slots> effective_{};
  const Route* any_ = nullptr;
  MethodSet allowed_ = 0;
};

/// The patterns as a tree of path segments.
///
/// ```
///   (root) -- "users" -- {id} -- "posts"          /users/{id}/posts
///        \          \-- "me"                      /users/me
///         \-- "files" -- {path...}                /files/{path...}
/// ```
class Tree {
 public:
  Tree();
  ~Tree();
  Tree(Tree&&) noexcept;
  Tree& operator=(Tree&&) noexcept;

  /// Adds a route under a pattern (its own or its alias). The route outlives the tree.
  void add(std::string_view pattern, const Route& route);
  /// Finds the most specific route that takes the method: literals before `{name}` before
  /// `{name...}`, segment by segment, with backtracking. Fills the captures, or the allowed methods
  /// if there is no route.
  ///
  /// Every node is visited at most once, whatever the path.
  void find(Method method, std::string_view path, Match& match) const noexcept;

 private:
  struct Node;
  struct Search;
  struct Exact {
    std::string path;
    const Endpoint* endpoint;
  };

  void add_exact(std::string_view path, const Endpoint& endpoint);
  [[nodiscard]] const Endpoint* find_exact(std::string_view path) const noexcept;

  std::unique_ptr<Node> root_;
  // Patterns without wildcards, by the hash of the whole path: most requests end here.
  std::vector<Exact> exact_;
  std::vector<std::uint32_t> slots_;  // open addressing: index into exact_ plus one, or 0
};

/// Hashes a whole path. The stored paths are the program's own, so no attacker chooses collisions.
std::size_t hash(std::string_view path) noexcept;

inline bool is_shorter_or_less(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : std::memcmp(a.data(), b.data(), a.size()) < 0;
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
  Node& add_literal(std::string_view segment);
  Node& add_wildcard();

  std::vector<Edge> edges;             // sorted by size, then bytes
  std::unique_ptr<Node> wildcard;      // {name}
  std::unique_ptr<Endpoint> here;      // a pattern that ends here
  std::unique_ptr<Endpoint> the_rest;  // {name...}
};

}  // namespace skua::router
