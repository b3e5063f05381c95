// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/address.hpp"
#include "net/name_lookup.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// How names are looked up, and by how many threads.
struct LookupOptions {
  std::size_t threads = 8;    ///< lookups that somebody waits for, at a time; at least one
  std::size_t queued = 1024;  ///< names that wait for one of the threads
  /// The addresses of a name. Called on several threads at a time; may block.
  std::function<Result<std::vector<net::Address>>(const std::string& name)> look_up = net::look_up;
  /// Whether look_up answers without asking the network. Called on one thread; reads a file.
  std::function<bool(const std::string& name)> is_local = net::is_in_hosts_file;
};

/// Runs lookups of names, which block and cannot be interrupted, on threads of their own.
///
/// The threads are detached. They share ownership of everything they use, so that neither the owner
/// of this nor the end of the process waits for a name server. A name that the hosts file has does
/// not wait for a thread while all of them are held up by others: it has one more to itself.
///
/// Lifetime:  one loop's. Destroyed, it drops what is queued; a lookup that runs ends by itself.
class LookupThreads final {
 public:
  using Answer = Result<std::vector<net::Address>>;
  /// One lookup; shared with the thread that makes it.
  struct Lookup;

  explicit LookupThreads(LookupOptions options);
  LookupThreads(const LookupThreads&) = delete;
  LookupThreads& operator=(const LookupThreads&) = delete;
  ~LookupThreads();

  /// Looks a name up, then calls `done` on another thread. `done` owns what it uses, and may be
  /// called after this object is gone.
  ///
  /// Ends with: null where too many names wait already, or the machine has no thread to give.
  std::shared_ptr<Lookup> start(std::string name, std::function<void(Answer)> done);
  /// Nobody waits for the answer any more: the place goes to another name. True for a lookup that
  /// had not begun: it never will. One that runs still calls `done`.
  bool abandon(Lookup& lookup);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace skua::client
