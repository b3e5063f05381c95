// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "skua/options.hpp"
#include "skua/tls.hpp"

namespace skua::testing {

/// A copy of a record that outlives the call of the hook.
struct KeptRecord {
  explicit KeptRecord(const RequestRecord& record)
      : target(record.target),
        route(record.route),
        request_id(record.request_id),
        status(record.status),
        body_bytes(record.body_bytes),
        sent_bytes(record.sent_bytes),
        received_bytes(record.received_bytes),
        head_bytes(record.head_bytes),
        start(record.start),
        first_byte(record.first_byte),
        duration(record.duration),
        connection_id(record.connection_id),
        cipher(record.tls != nullptr ? record.tls->cipher : std::string()),
        end(record.end),
        is_cut(record.is_cut) {}

  std::string target;
  std::string route;
  std::string request_id;
  Status status;
  std::uint64_t body_bytes;
  std::uint64_t sent_bytes;
  std::uint64_t received_bytes;
  std::size_t head_bytes;
  std::chrono::system_clock::time_point start;
  Duration first_byte;
  Duration duration;
  std::uint64_t connection_id;
  std::string cipher;
  ResponseEnd end;
  bool is_cut;
};

/// Keeps all records that a server's on_response hook receives, in order.
class RecordKeeper {
 public:
  explicit RecordKeeper(ServerOptions& options) {
    options.hooks.on_response = [this](const RequestRecord& record) {
      const std::lock_guard lock(mutex_);
      records_.emplace_back(record);
    };
  }

  std::vector<KeptRecord> all() {
    const std::lock_guard lock(mutex_);
    return records_;
  }
  /// Waits until there are `count` records; not for a server on this thread.
  std::vector<KeptRecord> await(std::size_t count) {
    while (all().size() < count) std::this_thread::yield();
    return all();
  }

 private:
  std::mutex mutex_;
  std::vector<KeptRecord> records_;
};

}  // namespace skua::testing
