// SPDX-License-Identifier: MIT
// In: offers, one per line, and after an empty line the lines of Accept, Accept-Encoding and
// Accept-Language. Checked: members are views into their line, with a weight of at most 1; the
// preferred one is an offer, and one more offer leaves the preference alone or wins it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/accept.hpp"
#include "skua/accept.hpp"
#include "skua/testing.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void read_line(std::string_view text) {
  const std::vector<char> exact(text.begin(), text.end());
  const std::string_view line(exact.data(), exact.size());
  skua::http::AcceptedList list(line);
  std::size_t members = 0;
  while (const auto member = list.next()) {
    check(is_inside(member->value, line) && is_inside(member->parameters, line));
    check(!member->value.empty() && member->weight <= 1000);
    ++members;
  }
  check(members <= line.size());
}

template <class Preferred>
void prefer(const skua::Request& request, const std::vector<std::string_view>& offers,
            Preferred preferred) {
  const auto best = preferred(request, std::span(offers));
  if (best) {
    bool is_offer = *best == "identity";
    for (const std::string_view offer : offers) is_offer = is_offer || offer.data() == best->data();
    check(is_offer);
  }
  if (offers.empty()) return;
  const auto fewer = preferred(request, std::span(offers).first(offers.size() - 1));
  check(best == fewer || (best && (*best == offers.back() || *best == "identity")));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take_line = [&rest] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
  };
  std::vector<std::string_view> offers;
  while (!rest.empty()) {
    const std::string_view line = take_line();
    if (line.empty()) break;
    if (offers.size() < 8) offers.push_back(line);
  }
  skua::testing::FakeRequest fake("GET /");
  while (!rest.empty()) {
    const std::string_view line = take_line();
    read_line(line);
    for (const char* const name : {"Accept", "Accept-Encoding", "Accept-Language"}) {
      fake.header(name, line);
    }
  }
  using Offers = std::span<const std::string_view>;
  const skua::Request& request = fake.request();
  prefer(request, offers, [](const auto& r, Offers o) { return skua::preferred_type(r, o); });
  prefer(request, offers, [](const auto& r, Offers o) { return skua::preferred_encoding(r, o); });
  prefer(request, offers, [](const auto& r, Offers o) { return skua::preferred_language(r, o); });
  return 0;
}
