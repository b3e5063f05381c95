// SPDX-License-Identifier: MIT
#include "ws/message_coding.hpp"

#include <span>
#include <utility>
#include <vector>

#include "crypto/random.hpp"
#include "skua/error.hpp"
#include "ws/message_reader.hpp"

namespace skua::ws {
namespace {

// Shorter messages hardly shrink, least of all without context.
constexpr std::size_t shortest_alone_bytes = 128;
constexpr std::size_t shortest_in_context_bytes = 16;
constexpr std::size_t kept_scratch_bytes = 64 * 1024;
constexpr std::size_t kept_readers = 64;

}  // namespace

DeflateOptions deflate_options(const WebSocketOptions& options) noexcept {
  const bool keeps_context = options.compression == WebSocketCompression::Context;
  return {.keeps_context = keeps_context && options.slow_peer != SlowPeer::DropOldest,
          .peer_keeps_context = keeps_context};
}

/// Those that no socket needs at present.
struct Codecs::Readers {
  Readers() { idle.reserve(kept_readers); }
  std::vector<std::unique_ptr<MessageReader>> idle{};
};

std::unique_ptr<MessageReader> Codecs::take_reader(Role role, std::size_t message_bytes,
                                                   Inflater* inflater) {
  if (readers_ == nullptr) {
    readers_ = {new Readers(), [](Readers* own) noexcept { std::default_delete<Readers>()(own); }};
  }
  std::unique_ptr<MessageReader> reader;
  if (readers_->idle.empty()) {
    reader = std::make_unique<MessageReader>(role, message_bytes);
    reader->use_spare(spare_);
  } else {
    reader = std::move(readers_->idle.back());
    readers_->idle.pop_back();
  }
  reader->serve(role, message_bytes, inflater);
  return reader;
}

void Codecs::give_back(std::unique_ptr<MessageReader> reader) noexcept {
  if (readers_->idle.size() < kept_readers) readers_->idle.push_back(std::move(reader));
}

std::array<char, 4> Codecs::next_mask() {
  std::array<char, 4> key;
  crypto::draw(std::as_writable_bytes(std::span(key)));
  return key;
}

Deflater& Codecs::deflater(std::uint8_t window_bits) {
  std::unique_ptr<Deflater>& found = deflaters_.at(window_bits);
  if (found == nullptr) found = std::make_unique<Deflater>(window_bits, false);
  return *found;
}

MessageCoding::MessageCoding(Role role, const DeflateParameters& agreed, Codecs& codecs)
    : codecs_(codecs),
      inflater_(
          role == Role::Server ? agreed.client_max_window_bits : agreed.server_max_window_bits,
          role == Role::Server ? !agreed.client_no_context_takeover
                               : !agreed.server_no_context_takeover,
          &codecs.inflaters()),
      window_bits_(role == Role::Server ? agreed.server_max_window_bits
                                        : agreed.client_max_window_bits) {
  const bool keeps_context = role == Role::Server ? !agreed.server_no_context_takeover
                                                  : !agreed.client_no_context_takeover;
  if (keeps_context) own_ = std::make_unique<Deflater>(window_bits_, true);
}

bool MessageCoding::is_worth(std::size_t size_bytes) const noexcept {
  return size_bytes >= (own_ != nullptr ? shortest_in_context_bytes : shortest_alone_bytes);
}

std::string_view MessageCoding::deflate(std::string_view content) {
  std::string& out = codecs_.scratch();
  out.clear();
  if (out.capacity() > kept_scratch_bytes) out.shrink_to_fit();
  Deflater& deflater = own_ != nullptr ? *own_ : codecs_.deflater(window_bits_);
  const Result<void> done = deflater.deflate(content, out);
  if (!done) throw Exception(done.error());
  return out;
}

bool MessageCoding::takes_shared() const noexcept { return own_ == nullptr && window_bits_ == 15; }

}  // namespace skua::ws
