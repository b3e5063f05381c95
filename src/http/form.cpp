// SPDX-License-Identifier: MIT
// In: urlencoded text, or fields one at a time. Out: the fields, and the text again. All names and
// values lie back to back in one string, so a form of a thousand fields takes two allocations, and
// a limit on that string limits the form.
#include "skua/form.hpp"

#include <algorithm>

#include "base/percent.hpp"
#include "http/query.hpp"

namespace skua {
namespace {

void append_encoded(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  percent::append(out, text, [](char c) { return c == ' ' || percent::is(c, percent::Form); });
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), ' ', '+');
}

}  // namespace

Result<Form> Form::parse(std::string_view text, const FormLimits& limits) {
  Form form;
  form.text_.reserve(std::min(text.size(), limits.total_bytes));
  while (const auto pair = http::take_pair(text)) {
    if (form.size() == limits.fields) return Error(Errc::BodyTooLong, "form");
    form.add_encoded(pair->name, pair->value);
    if (form.total_bytes() > limits.total_bytes) return Error(Errc::BodyTooLong, "form");
  }
  return form;
}

void Form::add_encoded(std::string_view name, std::string_view value) {
  const std::size_t begin = text_.size();
  text_.resize(begin + name.size() + value.size());
  const std::size_t name_bytes = http::decode_form(name, text_.data() + begin);
  const std::size_t value_bytes = http::decode_form(value, text_.data() + begin + name_bytes);
  text_.resize(begin + name_bytes + value_bytes);
  spans_.push_back({begin, name_bytes, value_bytes});
}

Form& Form::add(std::string_view name, std::string_view value) & {
  const std::size_t begin = text_.size();
  const std::size_t wanted = begin + name.size() + value.size();
  std::string former;  // keeps the old text until the copy: both may be views of it
  if (wanted > text_.capacity()) {
    former.reserve(std::max(wanted, 2 * begin));
    former.append(text_);
    former.swap(text_);
  }
  text_.append(name).append(value);
  spans_.push_back({begin, name.size(), value.size()});
  return *this;
}

FormField Form::field(std::size_t index) const noexcept {
  const Span& span = spans_[index];
  const char* const name = text_.data() + span.begin;
  return {{name, span.name_bytes}, {name + span.name_bytes, span.value_bytes}};
}

// Returns the index of the first field with this name at or after `index`, or size().
std::size_t Form::find_from(std::size_t index, std::string_view name) const noexcept {
  while (index < size() && field(index).name != name) ++index;
  return index;
}

std::optional<std::string_view> Form::get(std::string_view name) const noexcept {
  const std::size_t index = find_from(0, name);
  if (index == size()) return std::nullopt;
  return field(index).value;
}

FormValues Form::all(std::string_view name) const noexcept { return {*this, name}; }

std::string Form::to_string() const {
  std::string out;
  out.reserve(text_.size() + 2 * size());
  for (const auto [name, value] : *this) {
    if (!out.empty()) out += '&';
    append_encoded(out, name);
    out += '=';
    append_encoded(out, value);
  }
  return out;
}

}  // namespace skua
