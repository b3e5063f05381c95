// SPDX-License-Identifier: MIT
// In: descriptors. Out: descriptors that are counted, so that neither slow peers nor caches use up
// those that connections and other requests need.
#include "files/open/held_file.hpp"

#include <atomic>
#include <memory>
#include <utility>

#include "base/file_io.hpp"

namespace skua::files {
namespace {

// The places of one kind of holders.
class Places {
 public:
  using Rule = std::size_t (*)(std::size_t) noexcept;

  explicit Places(Rule at_most) noexcept : at_most_(at_most), most_(at_most(0)) {}

  // Queries the system's limit only if the count exceeds the last known one.
  bool take() noexcept {
    const std::size_t before = count_.fetch_add(1, std::memory_order_relaxed);
    if (before < most_.load(std::memory_order_relaxed)) return true;
    const std::size_t most = at_most_(base::disk_files_limit());
    most_.store(most, std::memory_order_relaxed);
    if (before < most) return true;
    give_back();
    return false;
  }

  void give_back() noexcept {
    if (count_.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    most_.store(at_most_(0), std::memory_order_relaxed);  // forces a new query
  }

 private:
  Rule at_most_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::size_t> most_;  // from the last query
};

Places& places_of(HeldFile::Holder holder) noexcept {
  static Places of_responses(held_files_at_most);
  static Places of_caches(kept_files_at_most);
  return holder == HeldFile::Holder::Response ? of_responses : of_caches;
}

}  // namespace

std::shared_ptr<const HeldFile> HeldFile::take(Descriptor& descriptor, Holder holder) {
  if (!places_of(holder).take()) return nullptr;
  std::unique_ptr<const HeldFile> held;  // from then on, it gives the place back
  try {
    held.reset(new HeldFile(std::move(descriptor), holder));
  } catch (...) {
    places_of(holder).give_back();
    throw;
  }
  return held;
}

HeldFile::~HeldFile() { places_of(holder_).give_back(); }

}  // namespace skua::files
