// SPDX-License-Identifier: MIT
// In: patterns that are known to be valid. Out: a tree of their segments, and a hash table of the
// patterns without wildcards.
#include <bit>
#include <stdexcept>

#include "router/tree.hpp"
#include "skua/pattern.hpp"

namespace skua::router {
namespace {

std::string line_of(const Route& route) {
  return std::string(route.where.file_name()) + ":" +
         std::to_string(std::uint64_t{route.where.line()});
}

[[noreturn]] void refuse(const Route& present, const Route& added, std::string_view method) {
  throw std::invalid_argument("route " + std::string(method) + " " + added.pattern + " at " +
                              line_of(added) + " conflicts with " + present.pattern + " at " +
                              line_of(present));
}

Endpoint& made(std::unique_ptr<Endpoint>& endpoint) {
  if (!endpoint) endpoint = std::make_unique<Endpoint>();
  return *endpoint;
}

}  // namespace

void Endpoint::add(const Route& route) {
  if (route.is_any) {
    if (any_ != nullptr) refuse(*any_, route, "any");
    any_ = &route;
  }
  for (std::size_t i = 0; i < method_slots; ++i) {
    if ((route.methods >> i & 1U) == 0) continue;
    if (own_[i] != nullptr) refuse(*own_[i], route, name(static_cast<Method>(i)));
    own_[i] = &route;
  }
  for (std::size_t i = 0; i < method_slots; ++i) {
    const Route* found = own_[i];
    // RFC 9110 §9.3.2: HEAD is GET without the content.
    if (found == nullptr && static_cast<Method>(i) == Method::Head) {
      found = own_[static_cast<std::size_t>(Method::Get)];
    }
    if (found == nullptr) found = any_;
    effective_[i] = found;
    if (found != nullptr) allowed_ |= bit(static_cast<Method>(i));
  }
}

Tree::Node& Tree::Node::add_literal(std::string_view segment) {
  const auto at = position(segment);
  if (at != edges.end() && at->segment == segment) return *at->node;
  return *edges.insert(at, Edge{std::string(segment), std::make_unique<Node>()})->node;
}

Tree::Node& Tree::Node::add_wildcard() {
  if (!wildcard) wildcard = std::make_unique<Node>();
  return *wildcard;
}

Tree::Tree() : root_(std::make_unique<Node>()) {}
Tree::~Tree() = default;
Tree::Tree(Tree&&) noexcept = default;
Tree& Tree::operator=(Tree&&) noexcept = default;

void Tree::add(std::string_view pattern, const Route& route) {
  Node* node = root_.get();
  for (std::string_view rest = pattern.substr(1);;) {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    if (segment.ends_with("...}")) return made(node->the_rest).add(route);
    node = segment.starts_with('{') ? &node->add_wildcard() : &node->add_literal(segment);
    if (slash == rest.npos) break;
    rest.remove_prefix(slash + 1);
  }
  Endpoint& endpoint = made(node->here);
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

}  // namespace skua::router
