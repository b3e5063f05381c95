// SPDX-License-Identifier: MIT
// Only on POSIX systems, on every back end: a lack of descriptors, and forked children that hold
// them.
#include <sys/resource.h>
#include <unistd.h>

#include "backend_harness.hpp"

namespace skua::loop {
namespace {

class BackendPosix : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Every, BackendPosix, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

/// Prevents new descriptors from being opened while it lives.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Socket next(::socket(AF_UNIX, SOCK_STREAM, 0));
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next.descriptor());
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_P(BackendPosix, ReportsThatDescriptorsRanOutAndGoesOnWhenAsked) {
  Socket listening = listener();
  const Socket first = client_of(listening);
  const Address address = net::local_address(listening.descriptor());
  Probe probe(*backend, std::move(listening));
  // UBSan opens descriptors when it first checks a type, so accept once before they run out.
  probe.start_accept();
  turn_until([&] { return probe.accepted.size() == 1; });
  probe.stop_accept();
  settle();
  probe.accepted.clear();
  const Socket second(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(second.descriptor(), address.data(), address.size_bytes()), 0);
  {
    const NoMoreDescriptors shortage;
    probe.start_accept();
    turn_until([&] { return !probe.accept_failures.empty(); });
    settle();
  }
  EXPECT_EQ(probe.accept_failures.size(), 1U);
  EXPECT_EQ(probe.accept_failures.front().code(), Errc::TooManyOpenFiles);
  EXPECT_TRUE(probe.accepted.empty());
  probe.start_accept();
  turn_until([&] { return probe.accepted.size() == 1; });
  close_all({&probe});
}

TEST_P(BackendPosix, ASocketThatAForkedChildStillHoldsIsForgotten) {
  Pair pair = connected_pair();
  const Socket held(::dup(pair.ours.descriptor()));  // like a child between fork and exec
  {
    Probe probe(*backend, std::move(pair.ours));
    probe.start_receive();
    settle();
    close_all({&probe});
  }
  write(pair.peer, "for nobody");
  settle();  // a sanitizer would report a call to the destroyed handle
  wait_out(5ms);
}

}  // namespace
}  // namespace skua::loop
