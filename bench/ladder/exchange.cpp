// SPDX-License-Identifier: MIT
//
// In: a connection. Out: one request read, and its answer sent by one writev(2).
// The idea: memory is laid out once. The head stays where it arrived, in an array that never grows,
// so that no view into it can dangle; the body has memory of its own, of just the right size; and
// the pieces of the answer are gathered by the kernel.

#include "exchange.hpp"

#include "head.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

namespace ladder {
namespace {

iovec piece(std::string_view text) {
  return {.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
}

// Returns false if the peer has left.
bool write_all(int fd, std::span<iovec> pieces) {
  while (!pieces.empty()) {
    const ssize_t result = writev(fd, pieces.data(), static_cast<int>(pieces.size()));
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) return false;
    auto written = static_cast<std::size_t>(result);
    while (!pieces.empty() && written >= pieces.front().iov_len) {
      written -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (pieces.empty()) break;
    // The kernel took a part of this piece.
    pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + written;
    pieces.front().iov_len -= written;
  }
  return true;
}

void send_text(int fd, std::string_view text) {
  std::array pieces{piece(text)};
  write_all(fd, pieces);
}

/// A number as text, without a string.
class Digits final {
 public:
  explicit Digits(std::size_t number)
      : end_(std::to_chars(memory_.begin(), memory_.end(), number).ptr) {}
  [[nodiscard]] std::string_view text() const { return {memory_.data(), end_}; }

 private:
  std::array<char, 20> memory_;
  const char* end_;
};

class Exchange final {
 public:
  explicit Exchange(int fd) : fd_(fd) { head_.fields.reserve(32); }

  void run() {
    const std::optional<Status> status = read_request();
    if (!status) return;
    if (*status != Status::Ok) return send_text(fd_, refusal(*status));
    switch (head_.method) {
      case Method::Get: return answer(hello);
      case Method::Post: return answer(Digits(head_.content_length).text());
      case Method::Other: break;  // was refused
    }
  }

 private:
  [[nodiscard]] std::string_view received() const { return {memory_.data(), filled_}; }

  // Returns nullopt if the peer has left.
  std::optional<Status> read_request() {
    std::size_t size = 0;
    while (size == 0) {
      if (filled_ == memory_.size()) return Status::HeadTooLarge;
      const std::size_t searched = filled_;
      if (!receive({memory_.data() + filled_, memory_.size() - filled_})) return std::nullopt;
      filled_ += received_;
      size = head_size(received(), searched);
    }
    const Status status = head_.parse(received().substr(0, size));
    if (status != Status::Ok) return status;
    return read_body(received().substr(size)) ? std::optional(Status::Ok) : std::nullopt;
  }

  // `early` is what came together with the head.
  bool read_body(std::string_view early) {
    const std::size_t length = head_.content_length;
    if (length == 0) return true;
    // make_unique() would write zeros to all of it first.
    body_ = std::make_unique_for_overwrite<char[]>(length);
    // A client may send more than it announced, and the copy must end with the body's memory.
    std::size_t size = std::min(early.size(), length);
    std::memcpy(body_.get(), early.data(), size);
    if (size < length && head_.expects_continue) send_text(fd_, please_continue);
    while (size < length) {
      if (!receive({body_.get() + size, length - size})) return false;
      size += received_;
    }
    return true;
  }

  // Sets `received_`. Returns false if the peer has left, or was silent for too long.
  bool receive(std::span<char> room) {
    const ssize_t result = recv(fd_, room.data(), room.size(), 0);
    received_ = result > 0 ? static_cast<std::size_t>(result) : 0;
    return result > 0;
  }

  void answer(std::string_view content) {
    const Digits length(content.size());
    std::array pieces{piece("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"
                            "Content-Length: "),
                      piece(length.text()), piece("\r\n\r\n"), piece(content)};
    write_all(fd_, pieces);
  }

  int fd_;
  Head head_;
  std::array<char, max_head_bytes> memory_;  // the head, and what came together with it
  std::size_t filled_ = 0;
  std::unique_ptr<char[]> body_;
  std::size_t received_ = 0;  // by the last receive()
};

}  // namespace

void serve_once(int fd) {
  Exchange(fd).run();
  close_gently(fd);
}

}  // namespace ladder
