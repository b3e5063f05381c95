// SPDX-License-Identifier: MIT
// In: a structured field dictionary. Out: its members `u`, an integer, and `i`, a boolean. Other
// members, and those of another type, are ignored; a malformed field is ignored as a whole.
#include "h2/priority.hpp"

#include "http/structured/scanner.hpp"

namespace skua::h2 {
namespace {

using http::BareItem;

class PriorityMembers : public http::StructuredVisitor {
 public:
  // RFC 9651 §3.2: the last one of a key counts.
  void on_key(std::string_view key) noexcept {
    key_ = key;
    is_inside_ = false;
    if (key == "u") told_.urgency = Priority().urgency;
    if (key == "i") told_.is_incremental = false;
  }
  void on_list_begin() noexcept { is_inside_ = true; }
  // RFC 9218 §4: a value out of range, or of another type, is ignored.
  void on_item(const BareItem& item) noexcept {
    if (is_inside_) return;
    if (key_ == "u" && item.type == BareItem::Type::Integer && item.number >= 0 &&
        item.number < static_cast<std::int64_t>(urgency_count)) {
      told_.urgency = static_cast<std::uint8_t>(item.number);
    }
    if (key_ == "i" && item.type == BareItem::Type::Boolean) {
      told_.is_incremental = item.number != 0;
    }
  }
  [[nodiscard]] const Priority& told() const noexcept { return told_; }

 private:
  std::string_view key_;
  bool is_inside_ = false;  // an inner list
  Priority told_;
};

}  // namespace

Priority parse_priority(std::string_view value) noexcept {
  PriorityMembers members;
  const bool is_well_formed = http::StructuredField(value, members).scan_dictionary();
  return is_well_formed ? members.told() : Priority();
}

}  // namespace skua::h2
