// SPDX-License-Identifier: MIT
// The public ClientRequest: collects a RequestSpec, then hands it to fetch().
#include "skua/client_request.hpp"

#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"
#include "client/core.hpp"
#include "client/fetch.hpp"
#include "client/files/download.hpp"
#include "client/problem.hpp"
#include "client/request_spec.hpp"
#include "client/wire/incoming_response.hpp"
#include "skua/async.hpp"

namespace skua {
namespace {

using client::Core;
using client::RequestSpec;

bool is_framing(std::string_view name) noexcept {
  return ascii::equals_ignoring_case(name, "Content-Length") ||
         ascii::equals_ignoring_case(name, "Transfer-Encoding");
}

using Spec = std::unique_ptr<RequestSpec>;

Task<Result<ClientResponse, Problem>> send_request(std::shared_ptr<Core> core, Spec spec) {
  Result<client::IncomingResponsePointer, Problem> got =
      co_await client::fetch(std::move(core), std::move(spec));
  if (!got) co_return got.error();
  (*got)->hand_over();
  co_return ClientResponse(*std::move(got));
}

Task<Result<std::string, Problem>> text_of(std::shared_ptr<Core> core, Spec spec) {
  Result<client::IncomingResponsePointer, Problem> got =
      co_await client::fetch(std::move(core), std::move(spec));
  if (!got) co_return got.error();
  const std::size_t limit_bytes = (*got)->text_limit();
  Result<std::string, Problem> text = co_await client::read_text(**got, limit_bytes);
  co_return text;
}

Task<Result<std::uint64_t, Problem>> save_content(std::shared_ptr<Core> core, Spec spec,
                                                  std::string path) {
  Result<client::IncomingResponsePointer, Problem> got =
      co_await client::fetch(std::move(core), std::move(spec));
  if (!got) co_return got.error();
  if (!(*got)->is_success()) co_return (*got)->unexpected_status();
  Result<std::uint64_t, Problem> saved = co_await client::save(**got, std::move(path));
  co_return saved;
}

Task<> call_back(std::shared_ptr<Core> core, Spec spec,
                 std::function<void(Result<ClientResponse, Problem>)> call) {
  Result<client::IncomingResponsePointer, Problem> got = Problem();
  try {  // a producer may throw, and no caller could catch it
    Result<client::IncomingResponsePointer, Problem> fetched =
        co_await client::fetch(core, std::move(spec));
    got = std::move(fetched);
  } catch (...) {
    got = client::problem_of(std::current_exception());
  }
  co_await yield();  // even an immediate failure is reported asynchronously
  if (core->is_broken_off) co_return;
  try {
    if (!got) {
      call(got.error());
    } else {
      (*got)->hand_over();
      call(ClientResponse(*std::move(got)));
    }
  } catch (...) {
    core->report(std::current_exception());
  }
}

}  // namespace

ClientRequest::ClientRequest(std::shared_ptr<client::Core> core, Method method,
                             std::string_view url)
    : core_(std::move(core)), spec_(std::make_unique<RequestSpec>()) {
  spec_->method = method;
  spec_->url = url;
  spec_->timeout = core_->options.timeout;
  spec_->redirects = core_->options.redirects.limit;
  spec_->decompress = core_->options.decompress;
}

ClientRequest::ClientRequest(std::shared_ptr<client::Core> core, std::string_view method,
                             std::string_view url)
    : ClientRequest(std::move(core), parse_method(method).value_or(Method::Other), url) {
  if (parse_method(method)) return;
  if (!ascii::is_token_text(method)) {
    throw std::invalid_argument("Client::request: the method is not a token");
  }
  spec_->other_method = method;
}

ClientRequest::ClientRequest(ClientRequest&&) noexcept = default;
ClientRequest& ClientRequest::operator=(ClientRequest&&) noexcept = default;
ClientRequest::~ClientRequest() = default;

ClientRequest& ClientRequest::header(std::string_view name, std::string_view value) & {
  if (is_framing(name)) {
    throw std::invalid_argument("ClientRequest::header: the content decides this field");
  }
  spec_->fields.add(name, value);
  return *this;
}

ClientRequest& ClientRequest::without_header(std::string_view name) & {
  spec_->left_out.emplace_back(name);
  return *this;
}

ClientRequest& ClientRequest::query(std::string_view name, std::string_view value) & {
  spec_->query.add(name, value);
  return *this;
}

ClientRequest& ClientRequest::body(Body content, std::string_view type) & {
  // Shared, so that it can be sent again without a copy.
  if (std::string* const text = content.owned()) {
    content = Body(std::make_shared<const std::string>(std::move(*text)));
  }
  spec_->content = std::move(content);
  spec_->content_type = type;
  spec_->is_content_given = true;
  return *this;
}

ClientRequest& ClientRequest::stream(std::string_view type,
                                     std::function<Task<>(BodyWriter&)> produce,
                                     std::optional<std::uint64_t> length_bytes) & {
  auto made = std::make_shared<BodyStream>();
  made->produce = std::move(produce);
  made->length_bytes = length_bytes;
  return body(Body(std::shared_ptr<const BodyStream>(std::move(made))), type);
}

ClientRequest& ClientRequest::field(std::string_view name, std::string_view value) & {
  spec_->form.add(name, value);
  return *this;
}

ClientRequest& ClientRequest::file(std::string_view name, std::string_view path,
                                   std::string_view type) & {
  spec_->files.push_back({std::string(name), std::string(path), std::string(type)});
  return *this;
}

ClientRequest& ClientRequest::file_of(std::string_view name, std::string_view filename,
                                      std::string text, std::string_view type) & {
  client::FormFile file{std::string(name), std::string(filename), std::string(type)};
  file.text = std::make_shared<const std::string>(std::move(text));
  spec_->files.push_back(std::move(file));
  return *this;
}

ClientRequest& ClientRequest::multipart(MultipartWriter parts) & {
  spec_->parts = std::make_shared<MultipartWriter>(std::move(parts));
  return *this;
}

ClientRequest& ClientRequest::basic_auth(std::string_view user, std::string_view password) & {
  const BasicCredentials credentials{std::string(user), std::string(password)};
  spec_->fields.set("Authorization", credentials.field().value());
  return *this;
}

ClientRequest& ClientRequest::auth(std::string_view user, std::string_view password) & {
  spec_->credentials = BasicCredentials{std::string(user), std::string(password)};
  return *this;
}

ClientRequest& ClientRequest::bearer(std::string_view token) & {
  spec_->fields.set("Authorization", "Bearer " + std::string(token));
  return *this;
}

ClientRequest& ClientRequest::timeout(Duration limit) & {
  spec_->timeout = limit;
  return *this;
}

ClientRequest& ClientRequest::redirects(unsigned limit) & {
  spec_->redirects = limit;
  return *this;
}

ClientRequest& ClientRequest::limit_rate(std::uint64_t bytes_per_second) & {
  spec_->bytes_per_second = bytes_per_second;
  return *this;
}

ClientRequest& ClientRequest::expect_continue() & {
  spec_->expects_continue = true;
  return *this;
}

ClientRequest& ClientRequest::decompress(bool wanted) & {
  spec_->decompress = wanted;
  return *this;
}

ClientRequest& ClientRequest::on_progress(std::function<void(Progress)> call) & {
  spec_->on_progress = std::move(call);
  return *this;
}

ClientRequest& ClientRequest::on_upload(std::function<void(Progress)> call) & {
  spec_->on_upload = std::move(call);
  return *this;
}

ClientRequest& ClientRequest::on_interim(std::function<void(Status, std::string_view)> call) & {
  spec_->on_interim = std::move(call);
  return *this;
}

ClientRequest& ClientRequest::on_head(std::function<void(HeadOf, std::string_view)> call) & {
  spec_->on_head = std::move(call);
  return *this;
}

Task<Result<ClientResponse, Problem>> ClientRequest::send() && {
  return send_request(std::move(core_), std::move(spec_));
}

Task<Result<std::string, Problem>> ClientRequest::text() && {
  return text_of(std::move(core_), std::move(spec_));
}

Task<Result<std::uint64_t, Problem>> ClientRequest::save(std::string path) && {
  return save_content(std::move(core_), std::move(spec_), std::move(path));
}

Task<Result<Downloaded, Problem>> ClientRequest::download(std::string path,
                                                          DownloadOptions options) && {
  return client::download(std::move(core_), std::move(spec_), std::move(path), options);
}

void ClientRequest::then(std::function<void(Result<ClientResponse, Problem>)> call) && {
  const Core& core = *core_;
  core.callbacks->spawn(call_back(std::move(core_), std::move(spec_), std::move(call)));
}

}  // namespace skua
