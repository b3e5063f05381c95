// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>

#include "http/field.hpp"
#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "router/match.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/request.hpp"

namespace skua::server {

struct Resources;

/// The address of a net::Stream's peer, in the shape of RequestParts::peer.
std::string peer_of(const void* stream);

/// The one that the middleware gave it; empty where none did.
std::string_view request_id_of(const Request& request) noexcept;

/// What a record tells of a request. Views live as long as the request's attachments.
struct Asked {
  const http::Head& head;
  loop::Instant began;  ///< when the head was there
  std::string_view request_id{};
  const router::Route* route = nullptr;  ///< null where none was matched
};

/// The same of a request that was dispatched; either may be null.
inline Asked asked(const http::Head& head, loop::Instant began, const Request* request,
                   const router::Route* route) noexcept {
  const bool has_id = request != nullptr && !request->attachments().empty();
  return {head, began, has_id ? request_id_of(*request) : std::string_view(), route};
}

/// The responses that a connection is sending. Each is told to the hook when the peer has been sent
/// the last of it, or will be sent no more.
///
/// What is sent is what left the output: a position counts the bytes from the first that ever did.
class Journal final {
 public:
  /// A response in progress.
  struct Entry;

  /// All outlive it.
  Journal(Resources& resources, const net::Stream& stream, const net::OutputQueue& output);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// A response is about to be written. The entry lives until finish().
  Entry& begin(const Asked& asked, Status status, Errc error = Errc::None);
  /// The last bytes of the output, so many, are content of it.
  void wrote(Entry& entry, std::uint64_t content_bytes);
  /// It has been written whole, or (`is_cut`) no more of it will be.
  void finish(Entry& entry, bool is_cut = false);
  /// So many bytes have left the output.
  void sent(std::uint64_t count);
  /// No more will.
  void end();

 private:
  [[nodiscard]] std::uint64_t written() const noexcept { return sent_ + output_.size_bytes(); }
  void tell(std::forward_list<Entry>& entries);

  Resources& resources_;
  const net::Stream& stream_;
  const net::OutputQueue& output_;
  std::forward_list<Entry> entries_;
  std::uint64_t sent_ = 0;
};

/// Counts, and logs, what a failed allocation has ended: `a connection was closed`.
void note_lack_of_memory(Resources& resources, const char* what) noexcept;

/// Counts a request that was refused before anybody could handle it.
void count_refusal(Resources& resources, Errc code) noexcept;

}  // namespace skua::server
