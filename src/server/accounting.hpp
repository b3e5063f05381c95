// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>

#include "http/message/field.hpp"
#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "router/tree.hpp"
#include "skua/address.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/request.hpp"

namespace skua::server {

struct Resources;

/// Returns the peer address of a net::Stream. Has the signature of RequestParts::peer.
Address peer_of(const void* stream);

/// Returns the id that middleware has assigned, or an empty view.
std::string_view request_id_of(const Request& request) noexcept;

/// Returns the name of the user that a guard let in, or an empty view.
std::string_view user_of(const Request& request) noexcept;

/// The request's part of a record. Views live as long as the request's attachments.
struct RequestInfo {
  const http::Head& head;
  loop::Instant began;  ///< when the head was complete
  std::string_view request_id{};
  const router::Route* route = nullptr;  ///< null if none matched
  std::string_view user{};
};

/// Makes an Asked. `request` and `route` may be null.
inline RequestInfo request_info(const http::Head& head, loop::Instant began, const Request* request,
                                const router::Route* route) noexcept {
  if (request == nullptr || request->attachments().empty()) return {head, began, {}, route};
  return {head, began, request_id_of(*request), route, user_of(*request)};
}

/// The responses that a connection is sending. Each is reported to the hook once it has been sent
/// completely, or no more of it will be.
///
/// Bytes count as sent when they leave the output. Positions count bytes since the accounting
/// began.
class Accounting final {
 public:
  /// A response in progress.
  struct Entry;

  /// All arguments must outlive the accounting.
  Accounting(Resources& resources, const net::Stream& stream, const net::OutputQueue& output);
  Accounting(const Accounting&) = delete;
  Accounting& operator=(const Accounting&) = delete;
  ~Accounting();

  /// Begins the record of a response that is about to be written. Valid until finish().
  Entry& begin(const RequestInfo& request_info, Status status, Errc error = Errc::None);
  /// Notes that the last `content_bytes` of the output are content of this response.
  void wrote(Entry& entry, std::uint64_t content_bytes);
  /// Notes that the response was written completely or, with `is_cut`, that no more of it will be.
  void finish(Entry& entry, bool is_cut = false);
  /// Notes that `count` bytes have left the output.
  void sent(std::uint64_t count);
  /// Notes that no more will: all remaining responses are cut.
  void end();

 private:
  [[nodiscard]] std::uint64_t written() const noexcept { return sent_ + output_.size_bytes(); }
  void tell(std::forward_list<Entry>& entries);

  Resources& resources_;
  const net::Stream& stream_;
  const net::OutputQueue& output_;
  std::forward_list<Entry> entries_;
  std::string peer_;  // of all its records
  std::uint64_t sent_ = 0;
};

/// Counts and logs a failed allocation. `what` is its effect, e.g. `a connection was closed`.
void note_out_of_memory(Resources& resources, const char* what) noexcept;

/// Counts a request that was refused with this error.
void count_refusal(Resources& resources, Errc code) noexcept;

}  // namespace skua::server
