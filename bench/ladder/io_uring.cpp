// SPDX-License-Identifier: MIT
//
// Rung 6, io_uring. In: completions. Out: orders, all of a turn by one system call.
// The idea: the program writes what it wants done into a queue that it shares with the kernel, and
// reads from another what is done. A chain of orders serves a connection: "send these answers, then
// receive". A connection has one chain at a time, so its end is the only event to handle.

#include "conversation.hpp"
#include "threads.hpp"

#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr unsigned queue_entries = 1024;
constexpr unsigned chain_entries = 3;   // send, shut down, receive
constexpr unsigned buffer_count = 128;  // a power of two
constexpr std::size_t buffer_bytes = std::size_t{64} * 1024;
constexpr std::uint16_t buffer_group = 0;

struct Connection {
  ladder::Conversation conversation;
  std::string output;  // what the kernel is sending, in a buffer of the pool
};

// Returns 0, or the negative error if the kernel lacks what this rung needs, or forbids it.
int open_ring(io_uring& ring) {
  return io_uring_queue_init(queue_entries, &ring,
                             IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
}

class Server final {
 public:
  explicit Server(int listener) : listener_(listener), memory_(buffer_count * buffer_bytes) {
    if (open_ring(ring_) != 0 || !share_buffers()) std::abort();  // main() has tried it
  }

  [[noreturn]] void run() {
    accept_all();
    while (true) {
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head = 0;
      unsigned count = 0;
      io_uring_cqe* done = nullptr;
      io_uring_for_each_cqe(&ring_, head, done) {
        ++count;
        const auto fd = static_cast<int>(done->user_data);
        if (fd == listener_) {
          on_accepted(*done);
        } else {
          on_received(fd, *done);
        }
      }
      io_uring_cq_advance(&ring_, count);
    }
  }

 private:
  Connection& at(int fd) { return connections_[static_cast<std::size_t>(fd)]; }
  char* buffer(unsigned id) { return memory_.data() + id * buffer_bytes; }

  // The kernel takes a buffer when bytes have arrived, so an idle connection needs none.
  bool share_buffers() {
    constexpr std::size_t page = 4096;
    void* const ring = std::aligned_alloc(page, page);  // 128 entries of 16 bytes, and the rest
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(ring);
    registration.ring_entries = buffer_count;
    registration.bgid = buffer_group;
    if (io_uring_register_buf_ring(&ring_, &registration, 0) != 0) return false;
    buffers_ = static_cast<io_uring_buf_ring*>(ring);
    io_uring_buf_ring_init(buffers_);
    for (unsigned id = 0; id < buffer_count; ++id) give_buffer(id);
    return true;
  }

  void give_buffer(unsigned id) {
    io_uring_buf_ring_add(buffers_, buffer(id), buffer_bytes, static_cast<std::uint16_t>(id),
                          io_uring_buf_ring_mask(buffer_count), 0);
    io_uring_buf_ring_advance(buffers_, 1);
  }

  // A chain must not be torn: all of it is submitted by one call.
  void make_room() {
    if (io_uring_sq_space_left(&ring_) < chain_entries) io_uring_submit(&ring_);
  }

  // The kernel returns the descriptor when the order is done.
  static void finish(io_uring_sqe* order, int fd, unsigned flags) {
    io_uring_sqe_set_flags(order, flags);
    io_uring_sqe_set_data64(order, static_cast<std::uint64_t>(fd));
  }

  // One order for all connections to come.
  void accept_all() {
    make_room();
    io_uring_sqe* const order = io_uring_get_sqe(&ring_);
    io_uring_prep_multishot_accept(order, listener_, nullptr, nullptr, SOCK_CLOEXEC);
    finish(order, listener_, 0);
  }

  void on_accepted(const io_uring_cqe& done) {
    if ((done.flags & IORING_CQE_F_MORE) == 0) accept_all();
    if (done.res < 0) return;
    const auto index = static_cast<std::size_t>(done.res);
    if (index >= connections_.size()) connections_.resize(index + 1);
    order_chain(done.res, false);
  }

  // The chain's only report: if an order fails, it reports that itself, and the kernel drops the
  // rest of the chain without a word.
  void on_received(int fd, const io_uring_cqe& done) {
    Connection& connection = at(fd);
    if (!connection.output.empty()) shared_.pool.give_back(connection.output);
    const bool was_over = connection.conversation.is_over();
    if ((done.flags & IORING_CQE_F_BUFFER) != 0) {
      const unsigned id = done.flags >> IORING_CQE_BUFFER_SHIFT;
      if (done.res > 0 && !was_over) {
        answer(connection, {buffer(id), static_cast<std::size_t>(done.res)});
      }
      give_buffer(id);
    }
    // ENOBUFS: others had all buffers. These are back before the next chain is submitted.
    if (done.res <= 0 && done.res != -ENOBUFS) return drop(fd);
    order_chain(fd, connection.conversation.is_over() && !was_over);
  }

  void answer(Connection& connection, std::string_view input) {
    std::string answers = shared_.pool.take();
    connection.conversation.receive(input, shared_, answers);
    if (answers.empty()) shared_.pool.give_back(answers);
    connection.output = std::move(answers);
  }

  // Orders the output to be sent, if there is any, and then more to be received. Bytes that come
  // after the last answer are received, too: see ladder::close_gently().
  void order_chain(int fd, bool is_last_answer) {
    constexpr unsigned then = IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
    make_room();
    const std::string& output = at(fd).output;
    if (!output.empty()) {
      io_uring_sqe* const order = io_uring_get_sqe(&ring_);
      io_uring_prep_send(order, fd, output.data(), output.size(), MSG_NOSIGNAL | MSG_WAITALL);
      finish(order, fd, then);
    }
    if (is_last_answer) {
      io_uring_sqe* const order = io_uring_get_sqe(&ring_);
      io_uring_prep_shutdown(order, fd, SHUT_WR);
      finish(order, fd, then);
    }
    io_uring_sqe* const order = io_uring_get_sqe(&ring_);
    io_uring_prep_recv(order, fd, nullptr, 0, 0);
    order->buf_group = buffer_group;
    finish(order, fd, IOSQE_BUFFER_SELECT);
  }

  void drop(int fd) {
    at(fd) = {};
    close(fd);
  }

  int listener_;
  io_uring ring_{};
  io_uring_buf_ring* buffers_ = nullptr;
  std::vector<char> memory_;  // of the buffers
  ladder::Shared shared_;
  std::deque<Connection> connections_;  // by descriptor; a deque does not move what is being sent
};

}  // namespace

int main(int count, char** arguments) {
  io_uring tried{};
  if (const int error = open_ring(tried); error != 0) {
    std::fprintf(stderr, "io_uring is not available: %s\n", std::strerror(-error));
    return 2;
  }
  io_uring_queue_exit(&tried);
  ladder::run_on_every_core(ladder::port_argument(count, arguments),
                            [](int listener) { std::make_unique<Server>(listener)->run(); });
}
