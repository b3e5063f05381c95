// SPDX-License-Identifier: MIT
// In: options. Out: requests with their fields, query, credentials and content. Files are checked
// before anything is sent, so that a wrong name never causes a half-sent request.
#include "get/request_content.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "base/ascii.hpp"
#include "base/disk.hpp"
#include "client/problem.hpp"
#include "files/mime_type.hpp"
#include "get/json_printer.hpp"
#include "skua/async.hpp"
#include "skua/body_writer.hpp"
#include "skua/literals.hpp"
#include "skua/multipart_writer.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t input_piece_bytes = 64_KiB;
constexpr std::chrono::milliseconds input_wait(100);
constexpr std::string_view json_type = "application/json";
constexpr std::string_view form_type = "application/x-www-form-urlencoded";

// Opens a file as content; a file that is not regular, such as a pipe, is read now.
Result<Body, Problem> open_content(const std::string& path) {
  const auto file =
      std::make_shared<disk::Descriptor>(disk::open(path.c_str(), O_RDONLY | disk::close_on_exec));
  if (!*file) return unreadable(path, Error::from_system(errno, "open"));
  const auto about = disk::stat_of(file->number());
  if (!about) return unreadable(path, about.error());
  if (about->kind != disk::FileKind::Regular) {
    Result<std::string, Problem> text = read_file(path);
    if (!text) return std::move(text).error();
    return Body(*std::move(text));
  }
  const int descriptor = file->number();
  return Body(
      FileRange{.owner = file, .file = descriptor, .offset = 0, .size_bytes = about->size_bytes});
}

struct InputPiece {
  std::string text{};
  int failure = 0;
  bool is_end = false;
};

// Runs off the loop, and waits briefly: ending the request must not wait for a key press.
InputPiece read_input() {
  InputPiece piece;
  if (!wait_for_input(input_wait)) return piece;
  piece.text.resize(input_piece_bytes);
  const auto count = disk::read(standard_input, piece.text.data(), piece.text.size());
  if (count < 0 && errno != EINTR && errno != EAGAIN) piece.failure = errno;
  piece.is_end = count == 0;
  piece.text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return piece;
}

Task<> send_input(BodyWriter& writer) {
  while (true) {
    auto reading = offload(read_input);
    InputPiece piece = co_await reading;
    if (piece.failure != 0) throw Exception(Error::from_system(piece.failure, "standard input"));
    if (piece.is_end) co_return;
    if (piece.text.empty()) continue;
    auto writing = writer.write(Body(std::move(piece.text)));
    co_await writing;
  }
}

// Checks the files of a form before anything is sent.
Result<void, Problem> look_at(const std::vector<RequestItems::File>& files) {
  for (const RequestItems::File& file : files) {
    const disk::Descriptor opened(disk::open(file.path.c_str(), disk::for_reading));
    if (!opened) return unreadable(file.path, Error::from_system(errno, "open"));
    const auto about = disk::stat_of(opened.number());
    if (about && about->kind == disk::FileKind::Regular) continue;
    return Problem{.error = Errc::Unsupported,
                   .text = "cannot send " + file.path + ": it is not a regular file"};
  }
  return {};
}

}  // namespace

bool is_input(const GetOptions& options) noexcept {
  return options.data && !options.is_data_literal &&
         (*options.data == "-" || *options.data == "@-");
}

std::optional<std::string> data_file(const GetOptions& options) {
  if (!options.data || options.is_data_literal || !options.data->starts_with('@')) {
    return std::nullopt;
  }
  return options.data->substr(1);
}

Result<PreparedRequest, Problem> PreparedRequest::prepare(const GetOptions& options) {
  PreparedRequest made(options);
  Result<std::optional<Netrc>, Problem> netrc = read_netrc(options.netrc);
  if (!netrc) return std::move(netrc).error();
  made.netrc_ = *std::move(netrc);
  made.type_ = options.type;
  if (made.type_.empty() && options.data) {
    made.type_ = options.json ? json_type : options.form ? form_type : "";
  }
  const RequestItems& items = options.items;
  if (options.form && !options.data) {
    if (auto taken = made.take_form(); !taken) return std::move(taken).error();
  } else if (!items.data.empty()) {
    auto object = json_object(items.data);
    if (!object) return std::move(object).error();
    made.content_ = Body(*std::move(object));
    if (made.type_.empty()) made.type_ = json_type;
  } else if (is_input(options)) {
    made.content_ = Input();
    if (made.type_.empty()) made.type_ = "application/octet-stream";
  } else if (const auto path = data_file(options)) {
    Result<Body, Problem> body = open_content(*path);
    if (!body) return std::move(body).error();
    made.content_ = *std::move(body);
    if (made.type_.empty()) made.type_ = files::mime_type(*path);
  } else if (options.data) {
    made.content_ = Body(*options.data);
    if (made.type_.empty()) {
      made.type_ = is_json(*options.data) ? json_type : "text/plain; charset=utf-8";
    }
  }
  return made;
}

// A form of texts alone would be urlencoded, so `multipart` makes one here.
Result<void, Problem> PreparedRequest::take_form() {
  const RequestItems& items = options_->items;
  if (auto looked = look_at(items.files); !looked) return looked;
  auto fields = form_fields(items.data);
  if (!fields) return std::move(fields).error();
  if (!options_->multipart || !items.files.empty()) {
    content_ = *std::move(fields);
    return {};
  }
  MultipartWriter parts;
  for (const auto& [name, value] : *fields) parts.field(name, value);
  std::string text;
  std::array<char, 16_KiB> piece;
  for (auto size = parts.read(piece); size && *size != 0; size = parts.read(piece)) {
    text.append(piece.data(), *size);
  }
  content_ = Body(std::move(text));
  type_ = parts.content_type();
  return {};
}

bool PreparedRequest::ignores_input() const {
  const std::string& method = options_->method;
  const bool takes_content = method == "POST" || method == "PUT" || method == "PATCH";
  return takes_content && content_.index() == 0 && has_unread_input();
}

std::string PreparedRequest::content_type() const { return has_field("content-type") ? "" : type_; }

std::optional<std::string_view> PreparedRequest::text() const {
  const Body* const body = std::get_if<Body>(&content_);
  if (body == nullptr || body->kind() == Body::Kind::File) return std::nullopt;
  return body->text();
}

std::span<const std::pair<std::string, std::string>> PreparedRequest::form() const {
  const Form* const form = std::get_if<Form>(&content_);
  return form != nullptr ? std::span(*form) : std::span<const Form::value_type>();
}

bool PreparedRequest::has_field(std::string_view name) const {
  return std::any_of(options_->items.fields.begin(), options_->items.fields.end(),
                     [name](const RequestItems::Field& field) {
                       return ascii::equals_ignoring_case(field.name, name);
                     });
}

ClientRequest PreparedRequest::make(Client& client, const Url& url) const {
  ClientRequest request = client.request(options_->method, url.to_string());
  for (const auto& [name, value] : options_->items.query) request.query(name, value);
  authenticate(request, url);
  request.limit_rate(options_->bytes_per_second);
  add_content(request);
  for (const RequestItems::Field& field : options_->items.fields) {
    if (field.value) {
      request.header(field.name, *field.value);
    } else {
      request.without_header(field.name);
    }
  }
  return request;
}

// Whatever is said explicitly wins over the file: options, fields, and a password in the URL.
void PreparedRequest::authenticate(ClientRequest& request, const Url& url) const {
  if (!options_->token.empty()) request.bearer(options_->token);
  std::optional<std::pair<std::string, std::string>> login = options_->credentials;
  const bool may_look = netrc_ && !login && options_->token.empty() && url.password().empty() &&
                        !has_field("authorization");
  if (may_look) {
    const Netrc::Login* const found = netrc_->find(url.hostname(), url.user());
    if (found != nullptr) login.emplace(found->user, found->password);
  }
  if (!login) return;
  if (options_->digest) {
    request.auth(login->first, login->second);
  } else {
    request.basic_auth(login->first, login->second);
  }
}

void PreparedRequest::add_content(ClientRequest& request) const {
  const std::string type = content_type();
  if (const Body* const body = std::get_if<Body>(&content_)) {
    request.body(*body, type);
  } else if (std::holds_alternative<Input>(content_)) {
    request.stream(type, send_input);
  } else if (const Form* const form = std::get_if<Form>(&content_)) {
    for (const auto& [name, value] : *form) request.field(name, value);
    for (const RequestItems::File& file : options_->items.files) {
      const std::string_view guess = files::mime_type(file.path);
      const std::string_view media_type = file.type.empty() ? guess : file.type;
      if (file.filename.empty()) {
        request.file(file.name, file.path, media_type);
      } else {
        request.file_of(file.name, file.filename, read_file(file.path).value(), media_type);
      }
    }
  }
}

}  // namespace skua::cli
