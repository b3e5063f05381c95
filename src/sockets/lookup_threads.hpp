// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/name_lookup.hpp"
#include "skua/address.hpp"
#include "skua/error.hpp"

namespace skua::sockets {

/// How names are looked up, and on how many threads.
struct LookupOptions {
  std::size_t threads = 8;    ///< concurrent lookups, except abandoned ones; at least one
  std::size_t queued = 1024;  ///< names that may wait for a thread
  /// Returns the addresses of a name. Called on several threads at a time; may block.
  std::function<Result<std::vector<Address>>(const std::string& name)> look_up = net::look_up;
  /// Reports whether look_up answers without the network. Called on one thread; reads a file.
  std::function<bool(const std::string& name)> is_local = net::is_in_hosts_file;
};

/// Runs name lookups, which block and cannot be interrupted, on threads of their own.
///
/// The threads are detached. They share ownership of everything they use, so that neither the owner
/// of this object nor the end of the process waits for a name server. Names in the hosts file have
/// an extra thread, so they need not wait while all other threads are blocked.
///
/// Lifetime:  one loop's. Its destructor drops queued lookups; running ones end by themselves.
class LookupThreads final {
 public:
  using Answer = Result<std::vector<Address>>;
  /// One lookup, shared with the thread that runs it.
  struct Lookup;

  explicit LookupThreads(LookupOptions options);
  LookupThreads(const LookupThreads&) = delete;
  LookupThreads& operator=(const LookupThreads&) = delete;
  ~LookupThreads();

  /// Looks a name up, then calls `done` on another thread. `done` owns what it uses, and may be
  /// called after this object is gone.
  ///
  /// Ends with: null if too many lookups are already queued, or no thread can be started.
  std::shared_ptr<Lookup> start(std::string name, std::function<void(Answer)> done);
  /// Gives up a lookup and frees its place. Returns true if it had not begun, and so never will; a
  /// running one still calls `done`.
  bool abandon(Lookup& lookup);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace skua::sockets
