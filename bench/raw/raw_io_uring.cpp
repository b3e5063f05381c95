// SPDX-License-Identifier: MIT
//
// In: connections. Out: the same response to every head that arrives.
// The idea: a minimal completion server: multishot accept, multishot receive into a provided buffer
// ring, plain sends, and one system call per turn that submits everything and waits.

#include "raw.hpp"

#ifndef SKUA_HAS_IO_URING

#include <cstdio>

namespace bench::raw {

int run_raw_io_uring(const RawOptions& /*options*/) {
  std::fputs("raw-io_uring is not built in: install liburing-dev and reconfigure\n", stderr);
  return 2;
}

}  // namespace bench::raw

#else

#include "answers.hpp"
#include "heads.hpp"

#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::raw {
namespace {

constexpr unsigned submissions = 2048;
constexpr unsigned completions = 16384;
constexpr unsigned buffer_count = 1024;  // a power of two
constexpr std::size_t buffer_bytes = 4096;
constexpr std::uint16_t buffer_group = 0;

enum class Kind : std::uint32_t { Accept, Receive, Send, Signal };

struct Connection {
  std::size_t owed = 0;      // responses not yet handed to a send
  std::size_t sending = 0;   // bytes of the send in flight; one at a time keeps the order
  std::uint8_t matched = 0;  // bytes of the terminator at the end of the received data
  bool ended = false;        // the receive is over
  std::string tail;          // the rest after a partial send
};

class UringServer final {
 public:
  UringServer(int listener, int signals) : listener_(listener), signals_(signals) {}
  UringServer(const UringServer&) = delete;
  UringServer& operator=(const UringServer&) = delete;

  ~UringServer() {
    if (ready_) io_uring_queue_exit(&ring_);
    if (buffer_ring_ != nullptr) munmap(buffer_ring_, ring_bytes());
    for (std::size_t fd = 0; fd < connections_.size(); ++fd) {
      if (connections_[fd] != nullptr) close(static_cast<int>(fd));
    }
  }

  bool run() {
    const int error = open_ring();
    if (error != 0) {
      std::fprintf(stderr, "raw-io_uring: %s\n", std::strerror(-error));
      return false;
    }
    // On a non-blocking descriptor io_uring would report EAGAIN instead of waiting.
    fcntl(listener_, F_SETFL, 0);
    accept_all();
    io_uring_sqe* const sqe = next_sqe();
    io_uring_prep_poll_add(sqe, signals_, POLLIN);
    tag(sqe, Kind::Signal, signals_);
    while (!stopped_) {
      const int result = io_uring_submit_and_wait(&ring_, 1);
      if (result < 0 && result != -EINTR && result != -EBUSY) return false;
      answers_.refresh();
      handle_completions();
    }
    return true;
  }

 private:
  static std::size_t ring_bytes() { return buffer_count * sizeof(io_uring_buf); }

  int open_ring() {
    io_uring_params params{};
    params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                   IORING_SETUP_COOP_TASKRUN | IORING_SETUP_CQSIZE;
    params.cq_entries = completions;
    int error = io_uring_queue_init_params(submissions, &ring_, &params);
    if (error != 0) return error;
    ready_ = true;
    // Saves the lookup of the ring's descriptor on each call; may fail harmlessly on old kernels.
    io_uring_register_ring_fd(&ring_);

    void* const memory =
        mmap(nullptr, ring_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -errno;
    buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
    registration.ring_entries = buffer_count;
    registration.bgid = buffer_group;
    error = io_uring_register_buf_ring(&ring_, &registration, 0);
    if (error != 0) return error;
    io_uring_buf_ring_init(buffer_ring_);
    buffers_.resize(buffer_count * buffer_bytes);
    for (unsigned i = 0; i < buffer_count; ++i) give_buffer(i);
    return 0;
  }

  char* buffer(unsigned id) { return buffers_.data() + id * buffer_bytes; }

  void give_buffer(unsigned id) {
    io_uring_buf_ring_add(buffer_ring_, buffer(id), buffer_bytes, static_cast<std::uint16_t>(id),
                          io_uring_buf_ring_mask(buffer_count), 0);
    io_uring_buf_ring_advance(buffer_ring_, 1);
  }

  io_uring_sqe* next_sqe() {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    while (sqe == nullptr) {
      io_uring_submit(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    return sqe;
  }

  // The kernel returns these 64 bits with the completion.
  static void tag(io_uring_sqe* sqe, Kind kind, int fd) {
    io_uring_sqe_set_data64(sqe, std::uint64_t{static_cast<std::uint32_t>(kind)} << 32 |
                                     static_cast<std::uint32_t>(fd));
  }

  void accept_all() {
    io_uring_sqe* const sqe = next_sqe();
    io_uring_prep_multishot_accept(sqe, listener_, nullptr, nullptr, SOCK_CLOEXEC);
    tag(sqe, Kind::Accept, listener_);
  }

  void receive(int fd) {
    io_uring_sqe* const sqe = next_sqe();
    io_uring_prep_recv_multishot(sqe, fd, nullptr, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = buffer_group;
    tag(sqe, Kind::Receive, fd);
  }

  void send_next(int fd, Connection& connection) {
    const bool old = !connection.tail.empty();
    const std::string_view bytes =
        old ? std::string_view(connection.tail) : answers_.take(connection.owed);
    if (!old) connection.owed -= connection.owed < Answers::most ? connection.owed : Answers::most;
    connection.sending = bytes.size();
    io_uring_sqe* const sqe = next_sqe();
    io_uring_prep_send(sqe, fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    tag(sqe, Kind::Send, fd);
  }

  void handle_completions() {
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* cqe = nullptr;
    io_uring_for_each_cqe(&ring_, head, cqe) {
      ++count;
      const auto kind = static_cast<Kind>(cqe->user_data >> 32);
      const auto fd = static_cast<int>(cqe->user_data & 0xffffffffU);
      switch (kind) {
        case Kind::Receive: received(fd, *cqe); break;
        case Kind::Send: sent(fd, cqe->res); break;
        case Kind::Accept: accepted(*cqe); break;
        case Kind::Signal: stopped_ = true; break;
      }
    }
    io_uring_cq_advance(&ring_, count);
  }

  void accepted(const io_uring_cqe& cqe) {
    if (cqe.res >= 0) {
      const auto index = static_cast<std::size_t>(cqe.res);
      if (index >= connections_.size()) connections_.resize(index + 1);
      connections_[index] = std::make_unique<Connection>();
      receive(cqe.res);
    }
    if ((cqe.flags & IORING_CQE_F_MORE) == 0) accept_all();
  }

  void received(int fd, const io_uring_cqe& cqe) {
    Connection& connection = *connections_[static_cast<std::size_t>(fd)];
    if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
      const unsigned id = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
      if (cqe.res > 0) {
        const auto size = static_cast<std::size_t>(cqe.res);
        connection.owed += count_heads({buffer(id), size}, connection.matched);
      }
      give_buffer(id);
    }
    if ((cqe.flags & IORING_CQE_F_MORE) == 0) {
      // The buffers ran out, or the kernel ended the multishot: neither is the end of the stream.
      if (cqe.res > 0 || cqe.res == -ENOBUFS) {
        receive(fd);
      } else {
        connection.ended = true;
      }
    }
    if (connection.sending == 0) proceed(fd, connection);
  }

  void sent(int fd, int result) {
    Connection& connection = *connections_[static_cast<std::size_t>(fd)];
    const std::size_t size = connection.sending;
    connection.sending = 0;
    if (result < 0) {
      connection.owed = 0;
      connection.tail.clear();
      // Ends the receive, whose completion then closes the connection.
      if (!connection.ended) shutdown(fd, SHUT_RDWR);
    } else if (static_cast<std::size_t>(result) < size) {
      keep_tail(connection, size, static_cast<std::size_t>(result));
    } else {
      connection.tail.clear();
    }
    proceed(fd, connection);
  }

  void keep_tail(Connection& connection, std::size_t size, std::size_t done) {
    if (connection.tail.empty()) {
      // The send began with the first answer; since then only the dates may have changed.
      connection.tail = std::string(answers_.take(Answers::most).substr(done, size - done));
    } else {
      connection.tail.erase(0, done);
    }
  }

  void proceed(int fd, Connection& connection) {
    if (connection.owed != 0 || !connection.tail.empty()) {
      send_next(fd, connection);
    } else if (connection.ended) {
      close(fd);
      connections_[static_cast<std::size_t>(fd)].reset();
    }
  }

  int listener_;
  int signals_;
  bool ready_ = false;
  bool stopped_ = false;
  io_uring ring_{};
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::vector<char> buffers_;
  Answers answers_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by descriptor
};

}  // namespace

int run_raw_io_uring(const RawOptions& options) {
  return run_workers(options, [](int listener, int signals) {
    return std::make_unique<UringServer>(listener, signals)->run();
  });
}

}  // namespace bench::raw

#endif
