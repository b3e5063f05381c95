// SPDX-License-Identifier: MIT
// In: the actual and the expected outcomes of a case. Out: the differences as readable text.
#include "support/case_player.hpp"

#include <algorithm>

namespace skua::testing {
namespace {

std::string text_of(const Expected::Fields& fields) {
  std::string out;
  for (const auto& [field, value] : fields) out += " [" + field + ": " + escape(value) + "]";
  return out;
}

std::string text_of(const Expected& event, const Expected& wanted) {
  if (event.kind == Expected::Kind::More) return "more";
  if (event.kind == Expected::Kind::Failure) {
    return "error " + event.error + " " + std::to_string(event.status) +
           (event.in_body ? " in body" : "");
  }
  std::string out = event.method + " " + event.target + " " + std::to_string(event.status) + " 1." +
                    std::to_string(event.minor_version) + (event.close ? " close" : "") +
                    (event.expect_continue ? " expect-continue" : "") +
                    (event.upgrade ? " upgrade" : "");
  if (wanted.check_host) out += " host=" + event.host;
  if (wanted.check_rest) out += " rest=" + escape(event.rest);
  return out + " body=" + escape(event.body) + " trailers" + text_of(event.trailers);
}

/// Reports whether `fields` contains the wanted fields in order.
bool contains(const Expected::Fields& fields, const Expected::Fields& wanted) {
  auto from = fields.begin();
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& field) {
    from = std::find(from, fields.end(), field);
    return from != fields.end() && from++ != fields.end();
  });
}

}  // namespace

Expected::Fields fields_of(const http::Head& head) {
  Expected::Fields fields;
  for (const http::FieldLine& line : head.fields) {
    fields.emplace_back(head.name(line), head.value(line));
  }
  return fields;
}

std::string difference(const std::vector<Expected>& events, const std::vector<Expected>& wanted) {
  std::string out;
  for (std::size_t i = 0; i < std::max(events.size(), wanted.size()); ++i) {
    const std::string want = i < wanted.size() ? text_of(wanted[i], wanted[i]) : "nothing";
    const std::string got = i < events.size()
                                ? text_of(events[i], i < wanted.size() ? wanted[i] : events[i])
                                : "nothing";
    if (want != got) out += "\n  want " + want + "\n  got  " + got;
    if (i < events.size() && i < wanted.size() && !contains(events[i].fields, wanted[i].fields)) {
      out += "\n  want fields" + text_of(wanted[i].fields) + "\n  got  fields" +
             text_of(events[i].fields);
    }
  }
  return out;
}

}  // namespace skua::testing
