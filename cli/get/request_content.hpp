// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "get/options.hpp"
#include "skua/body.hpp"
#include "skua/client.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// Reports whether the content is standard input.
bool is_input(const GetOptions& options) noexcept;
/// Returns the path of the file that is the content; nullopt if none is.
std::optional<std::string> data_file(const GetOptions& options);

/// A request as described by the command line, with its files checked.
class PreparedRequest final {
 public:
  /// Ends with: the errors of read_netrc(), json_object() and form_fields(); file system errors of
  ///            --data @FILE and the files of a form, with a text.
  static Result<PreparedRequest, Problem> prepare(const GetOptions& options);

  /// Returns the request for a URL.
  ///
  /// Ends with: std::invalid_argument and Exception, like the setters of ClientRequest.
  /// Lifetime:  the options outlive it.
  [[nodiscard]] ClientRequest make(Client& client, const Url& url) const;

  /// Reports whether a POST, PUT or PATCH has no content although standard input has unread data.
  [[nodiscard]] bool ignores_input() const;

  /// Returns the media type to send for content that is not a form; empty if it is given as a
  /// field.
  [[nodiscard]] std::string content_type() const;
  /// Returns the content if it is a text of the command line.
  [[nodiscard]] std::optional<std::string_view> text() const;
  /// Returns the fields of a form.
  [[nodiscard]] std::span<const std::pair<std::string, std::string>> form() const;

  /// Reports whether the content can be sent again after some of it was sent.
  [[nodiscard]] bool is_repeatable() const { return !std::holds_alternative<Input>(content_); }

  /// Reports whether the command line has a field of this name.
  [[nodiscard]] bool has_field(std::string_view name) const;

 private:
  struct Input {};  // standard input
  using Form = std::vector<std::pair<std::string, std::string>>;

  explicit PreparedRequest(const GetOptions& options) : options_(&options) {}
  Result<void, Problem> take_form();
  void add_content(ClientRequest& request) const;
  void authenticate(ClientRequest& request, const Url& url) const;

  const GetOptions* options_;
  std::optional<Netrc> netrc_{};
  std::variant<std::monostate, Body, Form, Input> content_{};
  std::string type_;  // media type of a Body or Input
};

}  // namespace skua::cli
