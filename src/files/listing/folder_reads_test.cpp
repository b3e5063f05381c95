// SPDX-License-Identifier: MIT
#include "files/listing/folder_reads.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

std::vector<std::string> names(const FolderRead& read) {
  std::vector<std::string> found;
  for (const DirectoryEntry& entry : read.entries()) found.push_back(entry.name);
  return found;
}

TEST(LargeListings, RequestsShareOneReadUntilItBegins) {
  const support::TemporaryDirectory tree;
  tree.write("a", "1");
  const auto root = std::make_shared<const Root>(Root::open(tree.string()).value());
  LargeListings listings;
  const auto first = listings.join("/");
  EXPECT_EQ(listings.join("/"), first);
  EXPECT_NE(listings.join("/other/"), first);
  ASSERT_TRUE(first->read(root, {}, "/"));
  tree.write("b", "2");
  ASSERT_TRUE(first->read(root, {}, "/"));
  EXPECT_EQ(names(*first), std::vector<std::string>{"a"}) << "it is read once";
  const auto later = listings.join("/");
  EXPECT_NE(later, first) << "it would not see what was written before";
  ASSERT_TRUE(later->read(root, {}, "/"));
  EXPECT_EQ(later->entries().size(), 2U);
}

TEST(LargeListings, OneReadHasAnyOrder) {
  const support::TemporaryDirectory tree;
  tree.write("a", "1");
  tree.write("b", "333");
  tree.write("c", "22");
  const auto root = std::make_shared<const Root>(Root::open(tree.string()).value());
  LargeListings listings;
  const auto read = listings.join("/");
  ASSERT_TRUE(read->read(root, {}, "/"));
  auto reader = DirectoryReader::open(root, "/");
  ASSERT_TRUE(reader);
  using Names = std::vector<std::string>;
  read->sort(*reader, {ListingOrder::Name});
  EXPECT_EQ(names(*read), (Names{"a", "b", "c"}));
  read->sort(*reader, {ListingOrder::Size});
  EXPECT_EQ(names(*read), (Names{"a", "c", "b"}));
  read->sort(*reader, {ListingOrder::Size, true});
  EXPECT_EQ(names(*read), (Names{"b", "c", "a"}));
  read->sort(*reader, {ListingOrder::Name, true});
  EXPECT_EQ(names(*read), (Names{"c", "b", "a"}));
}

}  // namespace
}  // namespace skua::files
