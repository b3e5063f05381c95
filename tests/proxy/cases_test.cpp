// SPDX-License-Identifier: MIT
// Plays every case file of the parser through a proxy: of a request that the proxy refuses, no byte
// may reach the upstream server, and of the others the upstream server must see the same request.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/case_file.hpp"
#include "support/paths.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Case;
using testing::Expected;

/// The requests that an upstream server has received.
class Recorder {
 public:
  void note(const Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::string(request.body()));
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> requests_;  // their contents
};

std::vector<Expected> requests_of(const Case& one) {
  std::vector<Expected> requests = one.expected;
  std::erase_if(requests,
                [](const Expected& event) { return event.kind != Expected::Kind::Message; });
  return requests;
}

// Its content is being passed on when it turns out to be malformed or incomplete.
bool fails_in_body(const Case& one) {
  return std::ranges::any_of(one.expected, [](const Expected& event) {
    return event.in_body || event.kind == Expected::Kind::More;
  });
}

TEST(ProxyCases, NoByteOfARefusedRequestIsPassedOn) {
  Recorder recorder;
  Router upstream_router;
  upstream_router.any("/{path...}", [&recorder](const Request& request, std::string_view) {
    recorder.note(request);
    return "ok";
  });
  testing::TestServer upstream(upstream_router, BackendChoice::Auto, {}, testing::Transport::Tcp);
  Router router;
  router.any("/{path...}", ReverseProxy("http://127.0.0.1:" + std::to_string(upstream.port())));
  const testing::TestServer front(router, BackendChoice::Auto, {}, testing::Transport::Tcp);

  std::vector<Case> cases = testing::read_case_files(testing::source_path("tests/cases"));
  std::erase_if(cases, [](const Case& one) { return one.is_response || !one.limits.empty(); });
  // Those come last: the upstream server may hear of their end a moment later.
  std::ranges::partition(cases, [](const Case& one) { return !fails_in_body(one); });
  std::size_t passed_count = 0;
  for (const Case& one : cases) {
    const Counters before = upstream->counters();
    testing::Client client(front.port(), testing::Transport::Tcp);
    client.send(one.bytes);
    client.end();
    client.rest();
    const Counters after = upstream->counters();
    const std::vector<std::string> passed = recorder.take();
    const std::vector<Expected> requests = requests_of(one);
    ASSERT_LE(passed.size(), requests.size()) << one.where();
    for (const std::string& body : passed) {
      const auto is_same = [&body](const Expected& request) { return request.body == body; };
      EXPECT_TRUE(std::ranges::any_of(requests, is_same)) << one.where();
    }
    if (fails_in_body(one)) continue;
    EXPECT_EQ(after.refused_malformed, before.refused_malformed) << one.where();
    if (requests.empty()) {
      EXPECT_EQ(after.bytes_received, before.bytes_received) << one.where();
    }
    passed_count += passed.size();
  }
  EXPECT_GT(passed_count, 100U);
}

}  // namespace
}  // namespace skua
