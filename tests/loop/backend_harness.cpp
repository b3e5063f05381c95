// SPDX-License-Identifier: MIT
// Runs a back end turn by turn, and keeps what it reports.
#include "backend_harness.hpp"

#include <array>
#include <cerrno>

#include "support/descriptors.hpp"

namespace skua::loop {

std::string pattern(std::size_t size_bytes) {
  std::string out;
  out.reserve(size_bytes + 16);
  for (std::size_t i = 0; out.size() < size_bytes; ++i) out.append(std::to_string(i)).append(",");
  out.resize(size_bytes);
  return out;
}

void Probe::start_accept() {
  is_inside_operation_ = true;
  backend_.start_accept(*this);
  is_inside_operation_ = false;
}

void Probe::start_receive() {
  is_inside_operation_ = true;
  backend_.start_receive(*this);
  is_inside_operation_ = false;
}

void Probe::connect(const Address& address) {
  is_inside_operation_ = true;
  backend_.connect(*this, address.data(), address.size_bytes());
  is_inside_operation_ = false;
}

void Probe::close() {
  is_closing_ = true;
  is_inside_operation_ = true;
  backend_.close(*this);
  is_inside_operation_ = false;
}

void Probe::send(std::vector<Slice> slices) {
  slices_ = std::move(slices);
  go_on();
}

void Probe::send_file(int file, std::uint64_t offset, std::size_t size_bytes) {
  file_ = file;
  offset_ = offset;
  file_left_ = size_bytes;
  go_on();
}

void Probe::go_on() {
  std::size_t left = file_left_;
  for (const Slice& slice : slices_) left += slice.size_bytes;
  if (left == 0) return;
  is_inside_operation_ = true;
  // The array may be destroyed at once; only the memory it points to must stay.
  const auto array = slices_;
  const std::size_t count = file_left_ > 0 ? backend_.send_file(*this, file_, offset_, file_left_)
                                           : backend_.send(*this, array);
  is_inside_operation_ = false;
  EXPECT_LE(count, left);
  is_pending_ = count < left;
  take(count);
}

void Probe::take(std::size_t count) {
  sent += count;
  if (file_left_ > 0) {
    file_left_ -= count;
    offset_ += count;
    return;
  }
  while (count > 0 && !slices_.empty()) {
    const std::size_t piece = std::min(count, slices_.front().size_bytes);
    slices_.front().data += piece;
    slices_.front().size_bytes -= piece;
    count -= piece;
    if (slices_.front().size_bytes == 0) slices_.erase(slices_.begin());
  }
  EXPECT_EQ(count, 0U) << "more bytes were sent than given";
}

void Probe::called(std::string_view name) {
  ++call_count;
  EXPECT_FALSE(is_inside_operation_) << name << " inside an operation";
  EXPECT_EQ(closed_count, name == "on_closed" ? 1 : 0) << name << " after on_closed";
  EXPECT_TRUE(!is_closing_ || name == "on_closed") << name << " after close";
  if (after_call) after_call(name);
}

void Probe::on_accept(int descriptor) {
  EXPECT_TRUE(support::is_non_blocking(descriptor));
  EXPECT_FALSE(support::is_inherited(descriptor));
  accepted.emplace_back(descriptor);
  called("on_accept");
}

void Probe::on_accept_failed(Error error) {
  accept_failures.push_back(error);
  called("on_accept_failed");
}

void Probe::on_connect(Error error) {
  EXPECT_FALSE(connected.has_value());
  connected = error.code();
  called("on_connect");
}

void Probe::on_receive(std::span<char> bytes) {
  received_at = bytes.data();
  EXPECT_FALSE(bytes.empty());
  EXPECT_FALSE(receive_end.has_value());
  received.append(bytes.data(), bytes.size());
  if (!bytes.empty()) bytes.front() = '\0';  // writable during the call
  called("on_receive");
}

void Probe::on_receive_end(Error error) {
  EXPECT_FALSE(receive_end.has_value());
  receive_end = error.code();
  called("on_receive_end");
}

void Probe::on_sent(std::size_t count) {
  EXPECT_TRUE(is_pending_) << "on_sent without a pending send";
  is_pending_ = false;
  take(count);
  called("on_sent");
  if (!is_closing_) go_on();
}

void Probe::on_send_failed(Error error) {
  EXPECT_TRUE(is_pending_) << "on_send_failed without a pending send";
  is_pending_ = false;
  send_failure = error.code();
  called("on_send_failed");
}

void Probe::on_closed() {
  EXPECT_EQ(descriptor(), -1);
  ++closed_count;
  called("on_closed");
}

BackendTest::BackendTest() : backend(*Backend::create(GetParam())) {}

void BackendTest::turn_until(const std::function<bool()>& is_done) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!is_done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it never happened";
    backend->turn(1ms);
  }
}

void BackendTest::settle() {
  for (int i = 0; i < 5; ++i) backend->turn(Duration::zero());
}

void BackendTest::wait_out(Duration time) {
  // The system may interrupt a wait without a signal from us, but a busy loop would make tens of
  // thousands of turns.
  constexpr int max_turns = 1000;
  const auto end = std::chrono::steady_clock::now() + time;
  int turns = 0;
  for (Duration left = time; left > Duration::zero();
       left = end - std::chrono::steady_clock::now()) {
    backend->turn(left);
    ASSERT_LE(++turns, max_turns);
  }
}

void BackendTest::close_all(std::initializer_list<Probe*> probes) {
  for (Probe* probe : probes) probe->close();
  turn_until([&] {
    for (const Probe* probe : probes) {
      if (probe->descriptor() >= 0) return false;
    }
    return true;
  });
  settle();
  for (const Probe* probe : probes) EXPECT_EQ(probe->closed_count, 1);
}

Socket BackendTest::listener() { return *net::create_listener(*Address::parse("127.0.0.1", 0)); }

Socket BackendTest::client_of(const Socket& listener) {
  Socket client(bsd::open(AF_INET, SOCK_STREAM));
  const Address address = net::local_address(listener.descriptor());
  bsd::set_blocking(client.descriptor(), true);  // connected when it returns
  EXPECT_EQ(bsd::connect(client.descriptor(), address.data(), address.size_bytes()), 0);
  bsd::set_blocking(client.descriptor(), false);
  return client;
}

BackendTest::Pair BackendTest::connected_pair() {
  const Socket listening = listener();
  Pair pair;
  pair.peer = client_of(listening);
  pair.ours = Socket(bsd::accept_one(listening.descriptor()));
  EXPECT_TRUE(pair.ours);
  return pair;
}

BackendTest::Pair BackendTest::unix_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(bsd::pair(ends), 0);
  return {Socket(ends[0]), Socket(ends[1])};
}

void BackendTest::write(const Socket& peer, std::string_view text) {
  EXPECT_EQ(bsd::send(peer.descriptor(), text.data(), text.size(), net::no_signal),
            static_cast<ssize_t>(text.size()));
}

std::string BackendTest::read(const Socket& peer, std::size_t max_bytes) {
  std::string out(max_bytes, '\0');
  const ssize_t count = bsd::recv(peer.descriptor(), out.data(), out.size(), 0);
  out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return out;
}

bool BackendTest::has_ended(const Socket& peer) {
  char byte = 0;
  const ssize_t count = bsd::recv(peer.descriptor(), &byte, 1, MSG_PEEK);
  return count == 0 || (count < 0 && errno != EAGAIN);
}

void BackendTest::reset(Socket& peer) {
  const linger at_once{1, 0};
  bsd::setsockopt(peer.descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  peer.close();
}

std::string BackendTest::read_exactly(const Socket& peer, std::size_t count, std::size_t step) {
  std::string out;
  turn_until([&] {
    out += read(peer, std::min(step, count - out.size()));
    return out.size() == count;
  });
  return out;
}

}  // namespace skua::loop
