// SPDX-License-Identifier: MIT
// In: a raw query string. Out: its pairs, one at a time and still encoded, and the decoding of a
// text. Lookups copy nothing: names are compared while they are decoded.
#include "http/uri/query.hpp"

#include <algorithm>
#include <numeric>

#include "base/percent.hpp"
#include "skua/query.hpp"
#include "skua/url.hpp"

namespace skua::http {
namespace {

struct Octet {
  char value;
  std::size_t size;  // of its encoded form
};

Octet first_octet(std::string_view encoded) noexcept {
  const char c = encoded.front();
  if (c == '+') return {' ', 1};
  if (percent::has_triplet(encoded)) {
    return {percent::triplet_octet(encoded), percent::triplet_bytes};
  }
  return {c, 1};
}

}  // namespace

std::optional<QueryPair> take_pair(std::string_view& query) noexcept {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == query.npos ? std::string_view{} : query.substr(end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return QueryPair{pair, {}};
    return QueryPair{pair.substr(0, equals), pair.substr(equals + 1)};
  }
  return std::nullopt;
}

bool is_encoded(std::string_view text) noexcept { return text.find_first_of("%+") != text.npos; }

std::size_t decode_form(std::string_view encoded, char* out) noexcept {
  std::size_t size = 0;
  while (!encoded.empty()) {
    const Octet octet = first_octet(encoded);
    out[size++] = octet.value;
    encoded.remove_prefix(octet.size);
  }
  return size;
}

bool decodes_to(std::string_view encoded, std::string_view text) noexcept {
  if (encoded.size() < text.size()) return false;
  while (!encoded.empty()) {
    const Octet octet = first_octet(encoded);
    if (text.empty() || text.front() != octet.value) return false;
    text.remove_prefix(1);
    encoded.remove_prefix(octet.size);
  }
  return text.empty();
}

}  // namespace skua::http

// In: a raw query, or names and values. Out: one from the other. Splitting and decoding come from
// query.hpp, which Request uses too, so client and server read a query alike.

namespace skua {
namespace {

std::string decoded(std::string_view encoded) {
  std::string out(encoded.size(), '\0');
  out.resize(http::decode_form(encoded, out.data()));
  return out;
}

}  // namespace

QueryParameter QueryView::Iterator::operator*() const { return {decoded(name_), decoded(value_)}; }

void QueryView::Iterator::next() noexcept {
  const auto pair = http::take_pair(rest_);
  is_end_ = !pair;
  if (!pair) return;
  name_ = pair->name;
  value_ = pair->value;
}

std::optional<std::string> QueryView::first(std::string_view name) const {
  for (Iterator at = begin(); at != end(); ++at) {
    if (http::decodes_to(at.name_, name)) return decoded(at.value_);
  }
  return std::nullopt;
}

std::vector<std::string> QueryView::all(std::string_view name) const {
  std::vector<std::string> values;
  for (Iterator at = begin(); at != end(); ++at) {
    if (http::decodes_to(at.name_, name)) values.push_back(decoded(at.value_));
  }
  return values;
}

bool QueryView::has(std::string_view name) const noexcept {
  for (Iterator at = begin(); at != end(); ++at) {
    if (http::decodes_to(at.name_, name)) return true;
  }
  return false;
}

QueryBuilder::QueryBuilder(std::string_view query) {
  for (QueryParameter parameter : QueryView(query)) parameters_.push_back(std::move(parameter));
}

QueryBuilder& QueryBuilder::add(std::string_view name, std::string_view value) & {
  parameters_.push_back({std::string(name), std::string(value)});
  return *this;
}

QueryBuilder& QueryBuilder::set(std::string_view name, std::string_view value) & {
  const auto has_name = [&](const QueryParameter& one) { return one.name == name; };
  const auto first = std::find_if(parameters_.begin(), parameters_.end(), has_name);
  if (first == parameters_.end()) return add(name, value);
  // The name and the value may be views of removed parameters.
  QueryParameter made{std::string(name), std::string(value)};
  const auto others = [&made](const QueryParameter& one) { return one.name == made.name; };
  parameters_.erase(std::remove_if(first + 1, parameters_.end(), others), parameters_.end());
  *first = std::move(made);
  return *this;
}

QueryBuilder& QueryBuilder::remove(std::string_view name) & {
  std::erase_if(parameters_,
                [name = std::string(name)](const QueryParameter& one) { return one.name == name; });
  return *this;
}

// Not std::stable_sort: libstdc++ implements it with a function that Clang reports as deprecated.
QueryBuilder& QueryBuilder::sort() & {
  std::vector<std::size_t> order(parameters_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const int by_name = parameters_[a].name.compare(parameters_[b].name);
    return by_name != 0 ? by_name < 0 : a < b;
  });
  std::vector<QueryParameter> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(parameters_[i]));
  parameters_ = std::move(sorted);
  return *this;
}

std::string QueryBuilder::to_string() const {
  std::string out;
  for (const QueryParameter& one : parameters_) {
    if (!out.empty()) out += '&';
    out += percent_encode(one.name, PercentSet::Form);
    out += '=';
    out += percent_encode(one.value, PercentSet::Form);
  }
  return out;
}

}  // namespace skua
