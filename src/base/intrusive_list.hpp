// SPDX-License-Identifier: MIT
#pragma once

#include "skua/config.hpp"

namespace skua::base {

/// A node of an IntrusiveList; unlinks itself when destroyed.
class ListNode {
 public:
  ListNode() = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  ~ListNode() { unlink(); }

  [[nodiscard]] bool is_linked() const noexcept { return next_ != nullptr; }

  void unlink() noexcept {
    if (next_ == nullptr) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }

 private:
  template <class T>
  friend class IntrusiveList;

  ListNode* next_ = nullptr;
  ListNode* previous_ = nullptr;
};

/// A list of objects that derive from ListNode; owns none of them and never allocates.
template <class T>
class IntrusiveList {
 public:
  IntrusiveList() noexcept { head_.next_ = head_.previous_ = &head_; }
  ~IntrusiveList() {
    while (!empty()) head_.next_->unlink();
    head_.next_ = head_.previous_ = nullptr;
  }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  [[nodiscard]] bool empty() const noexcept { return head_.next_ == &head_; }

  /// The first object. The list must not be empty.
  [[nodiscard]] T& front() noexcept { return static_cast<T&>(*head_.next_); }

  void push_back(T& object) noexcept {
    ListNode& node = object;
    SKUA_ASSERT(!node.is_linked());
    node.next_ = &head_;
    node.previous_ = head_.previous_;
    head_.previous_->next_ = &node;
    head_.previous_ = &node;
  }

  /// Inserts the object in front of the first one that `follows` it. Quick at both ends.
  template <class F>
  void insert(T& object, F&& follows) noexcept {
    ListNode& node = object;
    SKUA_ASSERT(!node.is_linked());
    ListNode* next = &head_;
    if (!empty() && follows(static_cast<const T&>(*head_.previous_))) {
      next = head_.next_;
      while (!follows(static_cast<const T&>(*next))) next = next->next_;
    }
    node.next_ = next;
    node.previous_ = next->previous_;
    next->previous_->next_ = &node;
    next->previous_ = &node;
  }

  /// Calls `visit` with each object; it may unlink or destroy that object, but no other.
  template <class F>
  void for_each(F&& visit) {
    for (ListNode* node = head_.next_; node != &head_;) {
      ListNode* next = node->next_;
      visit(static_cast<T&>(*node));
      node = next;
    }
  }

  template <class F>
  void for_each(F&& visit) const {
    for (const ListNode* node = head_.next_; node != &head_; node = node->next_) {
      visit(static_cast<const T&>(*node));
    }
  }

 private:
  ListNode head_;
};

}  // namespace skua::base
