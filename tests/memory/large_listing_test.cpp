// SPDX-License-Identifier: MIT
// The entries of a large folder are gone before the response to its listing is.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "skua/files.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/allocations.hpp"
#include "support/collecting_sink.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

TEST(LargeListingMemory, TheEndOfAResponseDestroysNoEntries) {
  const support::TemporaryDirectory tree;
  const std::string padding(100, 'x');
  for (int i = 10'000; i < 12'500; ++i) tree.write(std::to_string(i) + padding, "");
  Router router;
  router.files("/all", tree.string(), {.listing = true});
  const std::string line = "GET /all/?q=12499";
  std::optional<Response> response = testing::call(router, line);
  ASSERT_NE(response->content().stream(), nullptr) << "the folder is not large";
  const std::string text = support::produced(response->content());
  EXPECT_NE(text.find("12499" + padding), std::string::npos);
  const auto before = testing::allocations().live_bytes;
  response.reset();
  const auto after = testing::allocations().live_bytes;
  EXPECT_LT(before - after, 100'000) << "were freed on this thread";
}

TEST(LargeListingMemory, ACopyOfAResponseIsWrittenAsWell) {
  const support::TemporaryDirectory tree;
  for (int i = 10'000; i < 12'500; ++i) tree.write(std::to_string(i), "");
  Router router;
  router.files("/all", tree.string(), {.listing = true});
  const Response response = testing::call(router, "GET /all/");
  const Body copy = response.content();
  EXPECT_EQ(support::produced(copy), support::produced(response.content()));
}

}  // namespace
}  // namespace skua
