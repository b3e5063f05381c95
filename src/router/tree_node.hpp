// SPDX-License-Identifier: MIT
// The tree's nodes, shared by the lookup of a path and the registration of a pattern.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "router/tree.hpp"

namespace skua::router {

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
