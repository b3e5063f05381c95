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

/// A file of a form.
struct FormFile {
  std::string name{};
  std::string path{};  ///< or what it is called, where there is a text
  std::string type{};
  std::shared_ptr<const std::string> text{};  ///< what it is made of, instead of a file
};

/// What a ClientRequest was told.
struct RequestSpec {
  Method method = Method::Get;
  std::string url{};
  FieldLines fields{};
  std::vector<std::string> left_out{};  ///< names of fields that would go without saying
  QueryBuilder query{};
  Body content{};
  std::string content_type{};
  Form form{};  ///< where there is one, it is the content
  std::vector<FormFile> files{};
  std::shared_ptr<MultipartWriter> parts{};       ///< where there are some, they are the content
  std::optional<BasicCredentials> credentials{};  ///< for when the server asks
  Duration timeout{};
  unsigned redirects = 0;
  bool is_content_given = false;  ///< also where it is empty
  bool expects_continue = false;
  bool decompress = true;
  std::function<void(Progress)> on_progress{};
  std::function<void(Progress)> on_upload{};
  std::function<void(Status, std::string_view)> on_interim{};
  std::function<void(HeadOf, std::string_view)> on_head{};
};

}  // namespace skua::client
