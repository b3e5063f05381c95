// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "get_options.hpp"
#include "skua/body.hpp"
#include "skua/client.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// What the command line says about a request, with what it says of files looked at.
class PreparedRequest final {
 public:
  /// Ends with: what json_object() and form_fields() end with; what the file system says of
  ///            --data @FILE and of files of a form, with a text.
  static Result<PreparedRequest, Problem> prepare(const GetOptions& options);

  /// The request for a URL.
  ///
  /// Ends with: std::invalid_argument and Exception as the setters of ClientRequest.
  /// Lifetime:  the options outlive it.
  [[nodiscard]] ClientRequest make(Client& client, const Url& url) const;

  /// Whether a request that could have content has none, although standard input has some to offer.
  [[nodiscard]] bool ignores_input() const;

  /// Whether the command line has a field of this name.
  [[nodiscard]] bool has_field(std::string_view name) const;

 private:
  struct Input {};  // the standard input
  using Form = std::vector<std::pair<std::string, std::string>>;

  explicit PreparedRequest(const GetOptions& options) : options_(&options) {}
  void add_content(ClientRequest& request) const;

  const GetOptions* options_;
  std::variant<std::monostate, Body, Form, Input> content_{};
  std::string type_;  // of a Body or the Input
};

}  // namespace skua::cli
