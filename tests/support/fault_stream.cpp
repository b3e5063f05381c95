// SPDX-License-Identifier: MIT
// In: operations, and the events of a real stream. Out: the same, except for the one that fails.
#include "support/fault_stream.hpp"

#include <utility>

namespace skua::net {

FaultStream::FaultStream(std::unique_ptr<Stream> inner, std::uint64_t failing_operation,
                         Error error)
    : inner_(std::move(inner)), failing_operation_(failing_operation), error_(error) {
  inner_->listen(*this);
}

bool FaultStream::deliver() {
  if (std::exchange(owes_send_failed_, false)) {
    sink().on_send_failed(error_);
    return true;
  }
  if (std::exchange(owes_receive_end_, false)) {
    sink().on_receive_end(error_);
    return true;
  }
  return false;
}

void FaultStream::start_receive() {
  if (fails_now()) {
    owes_receive_end_ = true;
  } else {
    inner_->start_receive();
  }
}

void FaultStream::stop_receive() {
  owes_receive_end_ = false;
  inner_->stop_receive();
}

std::size_t FaultStream::send(std::span<const Slice> slices) {
  if (!fails_now()) return inner_->send(slices);
  owes_send_failed_ = true;
  return 0;
}

std::size_t FaultStream::send_file(int file, std::uint64_t offset, std::size_t size_bytes) {
  if (!fails_now()) return inner_->send_file(file, offset, size_bytes);
  owes_send_failed_ = true;
  return 0;
}

void FaultStream::close() {
  owes_receive_end_ = owes_send_failed_ = false;
  inner_->close();
}

void FaultStream::on_receive(std::span<char> bytes) {
  if (!fails_now()) return sink().on_receive(bytes);
  inner_->stop_receive();
  sink().on_receive_end(error_);
}

void FaultStream::on_receive_end(Error error) {
  if (!owes_receive_end_) sink().on_receive_end(error);
}

}  // namespace skua::net
