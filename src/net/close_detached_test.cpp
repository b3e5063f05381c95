// SPDX-License-Identifier: MIT
#include "net/close_detached.hpp"

#include <array>

#include <gtest/gtest.h>

#include "loop/loop.hpp"
#include "net/tcp_stream.hpp"
#include "support/backends.hpp"
#include "support/memory_stream.hpp"

namespace skua::net {
namespace {

TEST(CloseDetached, KeepsAStreamUntilItIsClosed) {
  auto stream = std::make_unique<MemoryStream>();
  MemoryStream& memory = *stream;
  bool is_destroyed = false;
  memory.tell_destruction(is_destroyed);
  close_detached(std::move(stream));
  EXPECT_TRUE(memory.is_closed());
  EXPECT_FALSE(is_destroyed);
  memory.pump();
  EXPECT_TRUE(is_destroyed);
}

// The sanitizers report leaks.
TEST(CloseDetached, IsOverAtTheLatestWithTheLoop) {
  for (const BackendChoice kind : testing::backends()) {
    auto loop = loop::Loop::create({.backend = kind});
    std::array<int, 2> ends{};
    ASSERT_EQ(bsd::pair(ends), 0);
    const Socket peer(ends[1]);
    close_detached(std::make_unique<TcpStream>((*loop)->backend(), Socket(ends[0])));
    loop->reset();
    char byte = 0;
    EXPECT_EQ(bsd::recv(peer.descriptor(), &byte, 1, 0), 0);
  }
}

}  // namespace
}  // namespace skua::net
