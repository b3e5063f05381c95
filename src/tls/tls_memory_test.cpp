// SPDX-License-Identifier: MIT
// The memory of an idle connection, including OpenSSL's.
#include <cstdint>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

constexpr std::size_t measured_count = 64;

std::uint64_t memory_in_use() {
#if defined(__GLIBC__)
  const struct mallinfo2 now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
#else
  return 0;
#endif
}

class TlsMemory : public TlsVersionsTest {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    const std::uint64_t before = memory_in_use();
    const std::string block(100'000, 'x');
    if (memory_in_use() < before + block.size()) GTEST_SKIP() << "the allocator does not tell";
  }

  static void pump(TlsPeer& peer) {
    while (peer.wire != nullptr && peer.wire->pump_once()) {
    }
  }
  static void close(TlsPeer& peer) {
    peer.close();
    pump(peer);
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, TlsMemory, testing::Values(TlsVersion::Tls12, TlsVersion::Tls13),
                         version_name);

TEST_P(TlsMemory, AClientThatSaysNothingCostsNoEngine) {
  const auto context = server_context();
  const auto loop = *loop::Loop::create({.backend = BackendChoice::Poll});
  std::vector<std::unique_ptr<TlsPeer>> silent;
  silent.reserve(measured_count);
  const std::uint64_t before = memory_in_use();
  for (std::size_t i = 0; i < measured_count; ++i) {
    silent.push_back(std::make_unique<TlsPeer>(*loop, context));
    silent.back()->receive();
  }
  const std::uint64_t each = (memory_in_use() - before) / measured_count;
  RecordProperty("bytes_per_silent_connection", std::to_string(each));
  EXPECT_LE(each, 1_KiB + sizeof(TlsPeer) + sizeof(net::MemoryStream) + sizeof(net::FaultStream));
  for (const auto& peer : silent) close(*peer);
}

TEST_P(TlsMemory, AnIdleConnectionOwnsNoBuffers) {
  const auto server = server_context();
  const auto client = client_context();
  const auto loop = *loop::Loop::create({.backend = BackendChoice::Poll});
  std::vector<std::unique_ptr<TlsPeer>> idle;
  idle.reserve(measured_count + 1);
  const std::string answer(200'000, 'a');  // several bursts of records
  const auto converse = [&] {
    auto& served = *idle.emplace_back(std::make_unique<TlsPeer>(*loop, server));
    TlsPeer asking(*loop, client->connect("example.com"));
    served.receive();
    asking.receive();
    asking.send("question");
    served.send(answer);
    for (int i = 0; i < 20; ++i) {
      pump(served);
      pump(asking);
      loop->run_once(Duration(0));
      served.wire->feed(asking.wire->take_output());
      asking.wire->feed(served.wire->take_output());
    }
    EXPECT_EQ(asking.received, answer);
    EXPECT_EQ(served.received, "question");
    close(asking);
  };
  converse();  // pays one-time setup costs
  const std::uint64_t before = memory_in_use();
  for (std::size_t i = 0; i < measured_count; ++i) converse();
  const std::uint64_t each = (memory_in_use() - before) / measured_count;
  RecordProperty("bytes_per_idle_connection", std::to_string(each));
  // The test keeps its answer, the stream no buffer: one for records is 16 KiB.
  EXPECT_LE(each, answer.size() + 24_KiB);
  for (const auto& peer : idle) close(*peer);
}

}  // namespace
}  // namespace skua::tls
