// SPDX-License-Identifier: MIT
// In: calls on any thread. Out: the objects of that thread, which are among the attachments of its
// loop: nothing else may destroy them, so a PerThread that ends posts its farewell to each loop.
#include "skua/per_thread.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "loop/loop.hpp"

namespace skua::detail {
namespace {

/// The objects of a loop's thread, by the number of their PerThread.
struct Objects {
  std::unordered_map<std::uint64_t, std::shared_ptr<void>> by_owner{};
};

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

/// Those whose threads have an object.
struct PerThreadObjects::Loops {
  const std::uint64_t number = next_number();  // unique in the process
  std::mutex mutex{};
  std::vector<std::shared_ptr<loop::Mailbox>> mailboxes{};  // guarded by mutex
};

PerThreadObjects::PerThreadObjects(std::function<std::shared_ptr<void>()> make)
    : make_(std::move(make)), loops_(std::make_unique<Loops>()) {}

PerThreadObjects::~PerThreadObjects() {
  for (const std::shared_ptr<loop::Mailbox>& mailbox : loops_->mailboxes) {
    try {
      mailbox->post([number = loops_->number] {
        Objects* const objects = loop::Loop::current().attachments().find<Objects>();
        if (objects != nullptr) objects->by_owner.erase(number);
      });
    } catch (const std::bad_alloc&) {
      continue;  // the object ends with its loop
    }
  }
}

void* PerThreadObjects::here() const {
  loop::Loop& loop = loop::Loop::current();
  auto& by_owner = loop.attachments().get<Objects>().by_owner;
  const auto found = by_owner.find(loops_->number);
  if (found != by_owner.end()) return found->second.get();
  std::shared_ptr<void> made = make_();  // may use other objects, and so change the map
  {
    const std::lock_guard lock(loops_->mutex);
    std::erase_if(loops_->mailboxes, [](const auto& mailbox) { return mailbox.use_count() == 1; });
    loops_->mailboxes.push_back(loop.mailbox());
  }
  return by_owner.emplace(loops_->number, std::move(made)).first->second.get();
}

}  // namespace skua::detail
