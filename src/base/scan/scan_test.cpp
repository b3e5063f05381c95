// SPDX-License-Identifier: MIT
#include "base/scan/scan.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/ascii.hpp"
#include "base/scan/whole.hpp"

namespace skua::scan {
namespace {

struct Scan {
  const char* name;
  Find Scanner::* find;
  ascii::Class wanted;
};

constexpr Scan scans[] = {
    {"token", &Scanner::token_end, ascii::Token},
    {"field value", &Scanner::field_value_end, ascii::FieldValue},
    {"target", &Scanner::target_end, ascii::PathTarget},
};

const char* expected_end(const char* p, const char* end, ascii::Class wanted) {
  while (p != end && ascii::is(*p, wanted)) ++p;
  return p;
}

/// Memory that ends where an unreadable page begins.
class GuardedPages {
 public:
  GuardedPages() : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* const memory =
        mmap(nullptr, 3 * page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<char*>(memory);
    EXPECT_NE(memory, MAP_FAILED);
    EXPECT_EQ(mprotect(base_, page_bytes_, PROT_NONE), 0);
    EXPECT_EQ(mprotect(base_ + 2 * page_bytes_, page_bytes_, PROT_NONE), 0);
  }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  ~GuardedPages() { munmap(base_, 3 * page_bytes_); }

  [[nodiscard]] char* begin() const { return base_ + page_bytes_; }
  [[nodiscard]] char* end() const { return base_ + 2 * page_bytes_; }

 private:
  std::size_t page_bytes_;
  char* base_ = nullptr;
};

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::Portable, Isa::Sse42, Isa::Avx2, Isa::Neon}) {
    if (is_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

class ScanOfEveryIsa : public ::testing::TestWithParam<Isa> {};

TEST_P(ScanOfEveryIsa, ClassifiesEveryByteAtEveryPlaceOfAVector) {
  for (const Scan& scan : scans) {
    const Find find = scanner(GetParam()).*scan.find;
    for (unsigned c = 0; c < 256; ++c) {
      for (std::size_t at = 0; at < 70; ++at) {
        std::string text(70, 'a');
        text[at] = static_cast<char>(c);
        const char* const begin = text.data();
        ASSERT_EQ(find(begin, begin, begin + 70) - begin,
                  expected_end(begin, begin + 70, scan.wanted) - begin)
            << scan.name << " byte " << c << " at " << at;
      }
    }
  }
}

TEST_P(ScanOfEveryIsa, FindsTheSameAsTheTableAtAllLengthsAndOffsets) {
  std::mt19937 random(7);
  std::string text(256, ' ');
  for (const Scan& scan : scans) {
    const Find find = scanner(GetParam()).*scan.find;
    for (int round = 0; round < 20; ++round) {
      for (char& c : text) {
        do {
          c = static_cast<char>(random());
        } while (!ascii::is(c, scan.wanted) && random() % 64 != 0);
      }
      for (std::size_t offset = 0; offset < 34; ++offset) {
        for (std::size_t length = 0; length <= 130; ++length) {
          const char* const p = text.data() + offset;
          const char* const wanted = expected_end(p, p + length, scan.wanted);
          ASSERT_EQ(find(p, p, p + length), wanted) << scan.name;
          ASSERT_EQ(find(text.data(), p, p + length), wanted) << scan.name;
        }
      }
    }
  }
}

TEST_P(ScanOfEveryIsa, ReadsNothingOutsideItsRange) {
  const GuardedPages pages;
  std::memset(pages.begin(), 'a', static_cast<std::size_t>(pages.end() - pages.begin()));
  for (const Scan& scan : scans) {
    const Find find = scanner(GetParam()).*scan.find;
    for (std::ptrdiff_t length = 0; length <= 130; ++length) {
      const char* const last = pages.end() - length;
      EXPECT_EQ(find(last, last, pages.end()), pages.end());
      EXPECT_EQ(find(pages.begin(), last, pages.end()), pages.end());
      const char* const first = pages.begin() + length;
      EXPECT_EQ(find(pages.begin(), pages.begin(), first), first);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ScanOfEveryIsa, ::testing::ValuesIn(supported_isas()));

TEST(Scan, TheBestInstructionSetIsSupported) { EXPECT_TRUE(is_supported(best_isa())); }

TEST(Scan, EveryAarch64ProcessorUsesNeon) {
#if defined(__aarch64__)
  EXPECT_EQ(best_isa(), Isa::Neon);
  EXPECT_NE(&scanner(Isa::Neon), &scanner(Isa::Portable));
#else
  EXPECT_FALSE(is_supported(Isa::Neon));
#endif
}

TEST(ScanWhole, AgreesWithTheTablesAndReadsNothingOutside) {
  const GuardedPages pages;
  for (std::size_t size = 0; size < 70; ++size) {
    for (char* const begin : {pages.begin(), pages.end() - size}) {
      const std::string_view text(begin, size);
      std::memset(begin, 'a', size);
      EXPECT_TRUE(is_field_value(text));
      EXPECT_EQ(is_token_text(text), size != 0);
      for (std::size_t at = 0; at < size; ++at) {
        for (unsigned c = 0; c < 256; ++c) {
          begin[at] = static_cast<char>(c);
          ASSERT_EQ(is_field_value(text), ascii::is_field_value(begin[at])) << size << ' ' << c;
          ASSERT_EQ(is_token_text(text), ascii::is_token(begin[at])) << size << ' ' << c;
        }
        begin[at] = 'a';
      }
    }
  }
}

}  // namespace
}  // namespace skua::scan
