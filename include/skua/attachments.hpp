// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace skua {

/// Values of any types, at most one per type; a guard passes its results to handlers in them.
///
/// ```cpp
/// struct User { std::string name; };
/// request.attachments().set(User{"ada"});
/// if (const User* user = request.attachments().find<User>()) …
/// ```
///
/// Allocates nothing until the first value is set.
class Attachments final {
 public:
  Attachments() noexcept = default;
  Attachments(Attachments&&) noexcept = default;
  Attachments& operator=(Attachments&&) noexcept = default;
  ~Attachments() {
    while (first_) first_ = std::move(first_->next);
  }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  /// Stores a value, replacing any other of the same type.
  template <class T>
  std::decay_t<T>& set(T&& value) {
    using Value = std::decay_t<T>;
    if (Value* const found = find<Value>()) return *found = std::forward<T>(value);
    return add(std::make_unique<Holder<Value>>(std::forward<T>(value)));
  }

  /// Returns the value of type T, which is made by its default constructor if there is none.
  template <class T>
  [[nodiscard]] T& get() {
    if (T* const found = find<T>()) return *found;
    return add(std::make_unique<Holder<T>>());
  }

  /// Returns the value of type T, or null.
  template <class T>
  [[nodiscard]] T* find() noexcept {
    for (Node* node = first_.get(); node != nullptr; node = node->next.get()) {
      if (*node->type == typeid(T)) return &static_cast<Holder<T>*>(node)->value;
    }
    return nullptr;
  }
  template <class T>
  [[nodiscard]] const T* find() const noexcept {
    return const_cast<Attachments*>(this)->find<T>();
  }

 private:
  struct Node {
    explicit Node(const std::type_info& value_type) noexcept : type(&value_type) {}
    virtual ~Node() = default;
    // Equal for a type that a program and a shared library both have, unlike the address of a
    // variable.
    const std::type_info* type;
    std::unique_ptr<Node> next{};
  };
  template <class T>
  struct Holder final : Node {
    Holder() : Node(typeid(T)), value() {}
    explicit Holder(T&& kept) : Node(typeid(T)), value(std::move(kept)) {}
    explicit Holder(const T& kept) : Node(typeid(T)), value(kept) {}
    T value;
  };

  template <class T>
  T& add(std::unique_ptr<Holder<T>> node) noexcept {
    node->next = std::move(first_);
    T& kept = node->value;
    first_ = std::move(node);
    return kept;
  }

  std::unique_ptr<Node> first_;
};

}  // namespace skua
