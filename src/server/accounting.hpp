// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/field.hpp"
#include "loop/clock.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "router/tree.hpp"
#include "skua/address.hpp"
#include "skua/connection.hpp"
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
  std::uint64_t content_bytes = 0;  ///< of the request, received so far
};

/// Makes a RequestInfo. `request` and `route` may be null.
inline RequestInfo request_info(const http::Head& head, loop::Instant began, const Request* request,
                                const router::Route* route, std::uint64_t content_bytes) noexcept {
  if (request == nullptr || request->attachments().empty()) {
    return {head, began, {}, route, {}, content_bytes};
  }
  return {head, began, request_id_of(*request), route, user_of(*request), content_bytes};
}

/// The responses that a connection is sending. Each is reported to the hook once it has been sent
/// completely, or no more of it will be.
///
/// Bytes count as sent when they leave the output. Positions count bytes since the accounting
/// began.
class Accounting final {
 public:
  /// A response in progress.
  struct Entry {
    struct Range {
      std::uint64_t begin;
      std::uint64_t end;
    };
    void note_sent(std::uint64_t position);

    Entry* next = nullptr;  // of those that began later, or of spare ones
    Accounting* owner = nullptr;
    RequestRecord record{};
    const router::Route* route = nullptr;
    std::string text{};               // backs the views of the record
    std::vector<Range> unsent{};      // positions of unsent content
    std::uint64_t begin = 0;          // position before the head
    std::uint64_t end = 0;            // position, once finished
    std::uint64_t framing_bytes = 0;  // HTTP/2: of the head, and around content
    loop::Instant began{};
    bool is_begun = false;  // its first byte was sent
    bool is_finished = false;
  };

  /// All arguments must outlive the accounting.
  Accounting(Resources& resources, detail::ConnectionSource& connection, const net::Stream& stream,
             const net::OutputQueue& output);
  Accounting(const Accounting&) = delete;
  Accounting& operator=(const Accounting&) = delete;
  ~Accounting();

  /// Begins the record of a response that is about to be written. Valid until finish().
  Entry& begin(const RequestInfo& request_info, Status status, Errc error = Errc::None);
  /// Notes that the head of an HTTP/2 response has been written since begin().
  void wrote_head(Entry& entry) noexcept;
  /// Notes that the last `content_bytes` of the output are content of this response. The bytes of
  /// an HTTP/2 frame around them are counted by the caller.
  void wrote(Entry& entry, std::uint64_t content_bytes, std::uint64_t framing_bytes = 0);
  /// Notes that bytes were sent without having been in the output, and how many of them are
  /// content.
  void sent_at_once(Entry& entry, std::uint64_t content_bytes, std::uint64_t all_bytes) {
    entry.record.body_bytes += content_bytes;
    sent(all_bytes);
  }
  /// Notes how much of the request's content has been received in all.
  static void received(Entry& entry, std::uint64_t content_bytes) noexcept;
  /// Notes that the response was written completely, or why no more of it will be.
  void finish(Entry& entry, ResponseEnd end = ResponseEnd::Complete);
  /// Notes that `count` bytes have left the output.
  void sent(std::uint64_t count);
  /// Notes why the connection is about to end. The default is that the peer left.
  void will_end(ResponseEnd why) noexcept { why_ended_ = why; }
  [[nodiscard]] ResponseEnd why_ended() const noexcept { return why_ended_; }
  /// Notes that no more bytes leave: all remaining responses are cut.
  void end();

 private:
  [[nodiscard]] std::uint64_t written() const noexcept { return sent_ + output_.size_bytes(); }
  void describe(Entry& entry, const RequestInfo& request_info);
  void tell(Entry& entry, loop::Instant now);

  Resources& resources_;
  detail::ConnectionSource& connection_;
  const net::Stream& stream_;
  const net::OutputQueue& output_;
  Entry* first_ = nullptr;  // in the order in which they began
  Entry** last_ = &first_;  // where the next one goes
  std::string peer_;        // of all its records
  std::uint64_t sent_ = 0;
  ResponseEnd why_ended_ = ResponseEnd::PeerLeft;
};

/// The time at which responses were sent. Those that follow each other closely in a turn share a
/// reading of the clock.
class SendClock final {
 public:
  /// Called when a handler may have taken its time.
  void forget() noexcept { left_ = 0; }
  [[nodiscard]] loop::Instant now(loop::Loop& loop) noexcept {
    if (left_ == 0 || turn_ != loop.now()) {
      now_ = loop.exact_now();
      turn_ = loop.now();
      left_ = readers;
    }
    --left_;
    return now_;
  }

 private:
  static constexpr unsigned readers = 8;

  loop::Instant now_{};
  loop::Instant turn_{};  // in which it was read
  unsigned left_ = 0;
};

/// The entries that the connections of a thread have used, for the next ones.
class SpareEntries final {
 public:
  SpareEntries() = default;
  SpareEntries(const SpareEntries&) = delete;
  SpareEntries& operator=(const SpareEntries&) = delete;
  ~SpareEntries();

  /// Returns an empty entry, which has to be given back.
  [[nodiscard]] Accounting::Entry& take();
  void give(Accounting::Entry& entry) noexcept;

 private:
  Accounting::Entry* first_ = nullptr;
  std::size_t count_ = 0;
};

/// Returns how a response ends if its request turns out to be unacceptable.
inline ResponseEnd end_for(Errc code) noexcept {
  return status_for(code) == Status::RequestTimeout ? ResponseEnd::TimedOut : ResponseEnd::Failed;
}

/// Counts and logs a failed allocation. `what` is its effect, e.g. `a connection was closed`.
void note_out_of_memory(Resources& resources, const char* what) noexcept;

/// Counts a request that was refused with this error.
void count_refusal(Resources& resources, Errc code) noexcept;

}  // namespace skua::server
