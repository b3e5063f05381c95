// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "skua/body.hpp"
#include "skua/bytes.hpp"
#include "skua/client_request.hpp"
#include "skua/client_response.hpp"
#include "skua/credentials.hpp"
#include "skua/field_lines.hpp"
#include "skua/form.hpp"
#include "skua/method.hpp"
#include "skua/multipart_writer.hpp"
#include "skua/query.hpp"
#include "skua/status.hpp"

namespace skua::client {

/// A file in a form.
struct FormFile {
  std::string name{};
  std::string path{};  ///< or the file name to send, if there is a text
  std::string type{};
  std::shared_ptr<const std::string> text{};  ///< the content, instead of a file's
};

/// The settings of a ClientRequest.
struct RequestSpec {
  Method method = Method::Get;
  std::string url{};
  FieldLines fields{};
  std::vector<std::string> left_out{};  ///< names of default fields to omit
  QueryBuilder query{};
  Body content{};
  std::string content_type{};
  Form form{};  ///< the content, if not empty
  std::vector<FormFile> files{};
  std::shared_ptr<MultipartWriter> parts{};       ///< the content, if not null
  std::optional<BasicCredentials> credentials{};  ///< sent when the server asks for them
  Duration timeout{};
  unsigned redirects = 0;
  bool is_content_given = false;  ///< even if it is empty
  bool expects_continue = false;
  bool decompress = true;
  std::function<void(Progress)> on_progress{};
  std::function<void(Progress)> on_upload{};
  std::function<void(Status, std::string_view)> on_interim{};
  std::function<void(HeadOf, std::string_view)> on_head{};
};

}  // namespace skua::client
