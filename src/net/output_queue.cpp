// SPDX-License-Identifier: MIT
// In: responses. Out: slices for one gathering send. Small pieces share a block, so a batch of
// pipelined responses leaves in one system call. Large bodies are kept until sent, not copied.
#include "net/output_queue.hpp"

#include <algorithm>
#include <cstring>

namespace skua::net {
namespace {

constexpr std::size_t slices_per_send = 16;
constexpr std::size_t copied_bytes = 4096;  // up to here, copying is cheaper than a slice

// Returns a part of a body's text. If the body owns the text, both share it from then on.
SKUA_COLD SharedText part_of(Body& body, std::size_t offset, std::size_t size_bytes) {
  SKUA_ASSERT(body.kind() != Body::Kind::Inline);
  if (std::string* const text = body.owned()) {
    body = Body(std::make_shared<const std::string>(std::move(*text)));
  }
  const SharedText* const shared = body.shared();
  return {shared != nullptr ? shared->owner : nullptr, body.text().substr(offset, size_bytes)};
}

std::uint64_t pressure_of(const Segment& segment) noexcept {
  return segment.file < 0 ? segment.size_bytes : OutputQueue::file_pressure_bytes;
}

}  // namespace

char* OutputQueue::add_block() {
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the queue owns it
  std::unique_ptr<OutputBlock> block = blocks_->take();
  block->is_block = true;
  block->data = block->bytes.data();
  block->size_bytes = block->used = 0;
  char* const begin = block->bytes.data();
  push(std::move(block));
  return begin;
}

void OutputQueue::append(std::string_view text) {
  while (!text.empty()) {
    char* to = reserve(1);
    const std::size_t count = std::min(text.size(), room_at_end());
    std::memcpy(to, text.data(), count);
    commit(count);
    text.remove_prefix(count);
  }
}

void OutputQueue::append_body(Body&& body) {
  const FileRange* const range = body.file();
  if (range == nullptr) return append_shared(part_of(body, 0, body.text().size()));
  if (range->size_bytes == 0) return;
  auto segment = reference(std::shared_ptr(range->owner));
  segment->file = range->file;
  segment->offset = range->offset;
  segment->size_bytes = range->size_bytes;
  push(std::move(segment));
}

std::unique_ptr<OutputReference> OutputQueue::reference(std::shared_ptr<const void>&& owner) {
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the queue owns it
  std::unique_ptr<OutputReference> reference = blocks_->references_.take();
  reference->owner = std::move(owner);
  reference->file = -1;
  return reference;
}

void OutputQueue::append_shared(SharedText&& text) {
  if (text.text.empty()) return;
  auto segment = reference(std::move(text.owner));
  segment->data = text.text.data();
  segment->size_bytes = text.text.size();
  push(std::move(segment));
}

// A text that many queues share is not copied into the first block of each.
void OutputQueue::append_piece(Body&& piece) {
  if (SharedText* const shared = piece.shared(); shared != nullptr && empty()) {
    return append_shared(std::move(*shared));
  }
  if (piece.size_bytes() <= copied_bytes && piece.file() == nullptr) return append(piece.text());
  append_body(std::move(piece));
}

void OutputQueue::append_part(Body& body, std::size_t offset, std::size_t size_bytes) {
  if (size_bytes <= copied_bytes) return append(body.text().substr(offset, size_bytes));
  append_shared(part_of(body, offset, size_bytes));
}

void OutputQueue::move_front(OutputQueue& to, std::size_t size_bytes) {
  const std::string_view part(head_->data, size_bytes);
  if (head_->is_block || size_bytes <= copied_bytes) {
    to.append(part);
  } else {
    to.append_shared({static_cast<OutputReference&>(*head_).owner, part});
  }
  consume(size_bytes);
}

Body OutputQueue::take_file() noexcept {
  auto& front = static_cast<OutputReference&>(*head_);
  Body file(FileRange{std::move(front.owner), front.file, front.offset, front.size_bytes});
  pop();
  return file;
}

std::size_t OutputQueue::gather(std::span<Slice> slices) const noexcept {
  std::size_t count = 0;
  for (const Segment* s = head_.get(); s != nullptr && s->file < 0 && count < slices.size();
       s = s->next.get()) {
    slices[count++] = {s->data, static_cast<std::size_t>(s->size_bytes)};
  }
  return count;
}

std::uint64_t OutputQueue::size_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Segment* s = head_.get(); s != nullptr; s = s->next.get()) sum += s->size_bytes;
  return sum;
}

void OutputQueue::consume(std::uint64_t size_bytes) noexcept {
  while (size_bytes != 0) {
    Segment& front = *head_;
    const std::uint64_t count = std::min(size_bytes, front.size_bytes);
    if (front.file < 0) {
      front.data += count;
      front.pressure_bytes -= count;
    } else {
      front.offset += count;
    }
    front.size_bytes -= count;
    size_bytes -= count;
    if (front.size_bytes == 0) pop();
  }
}

void OutputQueue::clear() noexcept {
  while (head_) pop();
}

void OutputQueue::push(std::unique_ptr<Segment> segment) noexcept {
  Segment* const added = segment.get();
  if (head_ == nullptr) {
    head_ = std::move(segment);
    head_->pressure_bytes = 0;
  } else {
    head_->last->next = std::move(segment);
  }
  head_->last = added;
  head_->pressure_bytes += pressure_of(*added);
}

void OutputQueue::pop() noexcept {
  std::unique_ptr<Segment> front = std::move(head_);
  head_ = std::move(front->next);
  if (head_ != nullptr) {
    head_->last = front->last;
    head_->pressure_bytes = front->pressure_bytes - pressure_of(*front);
  }
  if (front->is_block) {
    blocks_->give_back(std::unique_ptr<OutputBlock>(static_cast<OutputBlock*>(front.release())));
  } else {
    std::unique_ptr<OutputReference> reference(static_cast<OutputReference*>(front.release()));
    reference->owner.reset();
    blocks_->references_.give_back(std::move(reference));
  }
}

namespace {

// Like send_queued(), for any number of segments. Compiled for size: its system calls take longer.
SKUA_COLD Sent send_segments(OutputQueue& queue, Stream& stream) {
  Sent sent;
  while (!queue.empty() && !sent.is_pending) {
    const Segment& front = queue.front();
    std::uint64_t wanted = front.size_bytes;
    std::size_t taken = 0;
    if (front.file >= 0) {
      taken = stream.send_file(front.file, front.offset, static_cast<std::size_t>(wanted));
    } else {
      std::array<Slice, slices_per_send> slices;
      const std::size_t count = queue.gather(slices);
      wanted = 0;
      for (std::size_t i = 0; i < count; ++i) wanted += slices[i].size_bytes;
      taken = stream.send(std::span(slices).first(count));
    }
    sent.is_pending = taken < wanted;
    sent.bytes += taken;
    queue.consume(taken);
  }
  return sent;
}

}  // namespace

Sent send_queued(OutputQueue& queue, Stream& stream) {
  if (queue.empty()) return {};
  const Segment& front = queue.front();
  if (front.file >= 0 || front.next != nullptr) return send_segments(queue, stream);
  const Slice slice{front.data, static_cast<std::size_t>(front.size_bytes)};
  const std::size_t taken = stream.send({&slice, 1});
  if (taken == slice.size_bytes) [[likely]] {
    queue.drop_memory();
    return {.bytes = taken};
  }
  queue.consume(taken);
  return {.bytes = taken, .is_pending = true};
}

}  // namespace skua::net
