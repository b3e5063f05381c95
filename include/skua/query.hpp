// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/config.hpp"

namespace skua {

/// One `name=value` of a query, decoded.
struct QueryParameter {
  std::string name{};
  std::string value{};

  bool operator==(const QueryParameter&) const noexcept = default;
};

/// The parameters of a raw query (the text after the `?`), decoded one at a time:
/// `for (const auto& [name, value] : skua::QueryView(url.query()))`.
///
/// `+` is a space, empty pairs are skipped, and a malformed percent sign stands for itself, as in
/// browsers. A name may occur several times.
/// Lifetime:  the query outlives the view.
/// RFC:       WHATWG URL §5.1
class SKUA_API QueryView final {
 public:
  struct End {};
  class Iterator {
   public:
    [[nodiscard]] QueryParameter operator*() const;
    Iterator& operator++() noexcept {
      next();
      return *this;
    }
    bool operator==(End) const noexcept { return is_end_; }

   private:
    friend class QueryView;
    explicit Iterator(std::string_view query) noexcept : rest_(query) { next(); }
    void next() noexcept;
    std::string_view rest_;
    std::string_view name_{};
    std::string_view value_{};
    bool is_end_ = false;
  };

  explicit QueryView(std::string_view query) noexcept : query_(query) {}

  [[nodiscard]] Iterator begin() const noexcept { return Iterator(query_); }
  [[nodiscard]] static End end() noexcept { return {}; }
  /// Returns the first value with this name.
  [[nodiscard]] std::optional<std::string> first(std::string_view name) const;
  /// Returns all values with this name, in order.
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const noexcept;

 private:
  std::string_view query_;
};

/// Builds a query from any names and values: `url.set_query(builder.to_string())`.
class SKUA_API QueryBuilder final {
 public:
  QueryBuilder() = default;
  /// Starts from the parameters of a query.
  explicit QueryBuilder(std::string_view query);

  QueryBuilder& add(std::string_view name, std::string_view value) &;
  QueryBuilder&& add(std::string_view name, std::string_view value) && {
    return std::move(add(name, value));
  }
  /// Replaces the first value of the name, or appends it, and removes the name's other values.
  QueryBuilder& set(std::string_view name, std::string_view value) &;
  QueryBuilder&& set(std::string_view name, std::string_view value) && {
    return std::move(set(name, value));
  }
  QueryBuilder& remove(std::string_view name) &;
  QueryBuilder&& remove(std::string_view name) && { return std::move(remove(name)); }
  /// Sorts by the bytes of the names; values of the same name keep their order.
  QueryBuilder& sort() &;
  QueryBuilder&& sort() && { return std::move(sort()); }

  [[nodiscard]] const std::vector<QueryParameter>& parameters() const noexcept SKUA_LIFETIMEBOUND {
    return parameters_;
  }
  /// Returns `a=b+c&d=%26`, without the `?`. WHATWG URL §5.2
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<QueryParameter> parameters_;
};

}  // namespace skua
