// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skua/body_writer.hpp"
#include "skua/bytes.hpp"
#include "skua/client_response.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"
#include "skua/multipart_writer.hpp"
#include "skua/task.hpp"

namespace skua {

namespace client {
class Core;
struct RequestSpec;
}  // namespace client

/// How a file is downloaded.
struct DownloadOptions {
  /// Goes on with what an earlier download has left behind, where the server still has the same; a
  /// file that is whole already is not downloaded again. What arrives is kept in `.NAME.part` until
  /// it is whole, and also when it ends before that, if the server has said how to know it again (a
  /// strong ETag, or Last-Modified).
  bool resume = false;
};

/// What a download came to.
struct Downloaded {
  std::uint64_t size_bytes = 0;     ///< of the file
  std::uint64_t resumed_bytes = 0;  ///< of that were there before
};

/// Whose head is told of: see ClientRequest::set_heads().
enum class HeadOf : std::uint8_t { Request, Response };

/// A request that is to be sent, as Client::get() and its like make it:
///
/// ```cpp
/// auto created = co_await client.post("/users").bearer(token).json(R"({"name": "Ada"})");
/// if (!created) co_return report(created.error().text);
/// ```
/// Lifetime:  its client outlives it, and the tasks that it makes.
class ClientRequest final {
 public:
  ClientRequest(std::shared_ptr<client::Core> core, Method method, std::string_view url);
  ClientRequest(ClientRequest&&) noexcept;
  ClientRequest& operator=(ClientRequest&&) noexcept;
  ~ClientRequest();

  // Each setter is there twice: for `client.get(url).bearer(token)`, and for a request that has a
  // name.

  /// One more field.
  ///
  /// Ends with: std::invalid_argument for what is no field line, and for fields that say where the
  ///            content ends: Content-Length, Transfer-Encoding.
  ClientRequest& header(std::string_view name, std::string_view value) &;
  ClientRequest&& header(std::string_view name, std::string_view value) && {
    return std::move(header(name, value));
  }
  /// Leaves a field out that would go without saying: User-Agent, Accept, Accept-Encoding.
  ClientRequest& without_header(std::string_view name) &;
  ClientRequest&& without_header(std::string_view name) && {
    return std::move(without_header(name));
  }
  /// One more parameter of the URL's query, encoded.
  ClientRequest& query(std::string_view name, std::string_view value) &;
  ClientRequest&& query(std::string_view name, std::string_view value) && {
    return std::move(query(name, value));
  }

  /// The content, of any kind; a type that is empty is not said. With a std::string and a file
  /// range the request can be sent again where a redirect or a challenge asks for it; a stream
  /// cannot.
  ClientRequest& body(Body content, std::string_view type = "text/plain; charset=utf-8") &;
  ClientRequest&& body(Body content, std::string_view type = "text/plain; charset=utf-8") && {
    return std::move(body(std::move(content), type));
  }
  ClientRequest& json(std::string text) & { return body(std::move(text), "application/json"); }
  ClientRequest&& json(std::string text) && { return std::move(json(std::move(text))); }
  /// Content that is made while it is sent; `length_bytes` where its size is known.
  ///
  /// Lifetime:  what `produce` captures lives until the request has ended.
  ClientRequest& stream(std::string_view type, std::function<Task<>(BodyWriter&)> produce,
                        std::optional<std::uint64_t> length_bytes = std::nullopt) &;
  template <class F>
  ClientRequest&& stream(std::string_view type, F&& produce,
                         std::optional<std::uint64_t> length_bytes = std::nullopt) && {
    static_assert(SafeInAwait<F>,
                  "a closure with captures gets a name before it is passed to a request: GCC 12 "
                  "destroys a temporary one twice");
    return std::move(
        stream(type, std::function<Task<>(BodyWriter&)>(std::forward<F>(produce)), length_bytes));
  }
  /// One more field of a form: urlencoded, or multipart once there is a file().
  ClientRequest& field(std::string_view name, std::string_view value) &;
  ClientRequest&& field(std::string_view name, std::string_view value) && {
    return std::move(field(name, value));
  }
  /// A file of a form, which is read while it is sent. An empty `type` is
  /// application/octet-stream.
  ClientRequest& file(std::string_view name, std::string_view path, std::string_view type = {}) &;
  ClientRequest&& file(std::string_view name, std::string_view path,
                       std::string_view type = {}) && {
    return std::move(file(name, path, type));
  }

  /// The same, made of this text.
  ClientRequest& file_of(std::string_view name, std::string_view filename, std::string text,
                         std::string_view type = {}) &;
  ClientRequest&& file_of(std::string_view name, std::string_view filename, std::string text,
                          std::string_view type = {}) && {
    return std::move(file_of(name, filename, std::move(text), type));
  }
  /// Content of parts: any sources, `multipart/related` as well. It is read while it is sent, on
  /// another thread, and cannot be sent again. In place of body() and of fields and files.
  ClientRequest& multipart(MultipartWriter parts) &;
  ClientRequest&& multipart(MultipartWriter parts) && {
    return std::move(multipart(std::move(parts)));
  }

  /// Authorization by name and password, without being asked. RFC 7617
  ///
  /// Ends with: Exception (MalformedChallenge) for a name with a colon and for control characters.
  ClientRequest& basic_auth(std::string_view user, std::string_view password) &;
  ClientRequest&& basic_auth(std::string_view user, std::string_view password) && {
    return std::move(basic_auth(user, password));
  }
  /// A name and a password for when the server asks: by Digest if it can, else by Basic. RFC 7616
  ClientRequest& auth(std::string_view user, std::string_view password) &;
  ClientRequest&& auth(std::string_view user, std::string_view password) && {
    return std::move(auth(user, password));
  }
  /// Authorization by a token. RFC 6750
  ClientRequest& bearer(std::string_view token) &;
  ClientRequest&& bearer(std::string_view token) && { return std::move(bearer(token)); }

  /// In place of ClientOptions::timeout.
  ClientRequest& timeout(Duration limit) &;
  ClientRequest&& timeout(Duration limit) && { return std::move(timeout(limit)); }
  /// How many redirects are followed, in place of ClientOptions::redirects.
  ClientRequest& redirects(unsigned limit) &;
  ClientRequest&& redirects(unsigned limit) && { return std::move(redirects(limit)); }
  /// Asks first whether the content is wanted; after 417 once more, without. RFC 9110 §10.1.1
  ClientRequest& expect_continue() &;
  ClientRequest&& expect_continue() && { return std::move(expect_continue()); }
  /// In place of ClientOptions::decompress.
  ClientRequest& decompress(bool wanted) &;
  ClientRequest&& decompress(bool wanted) && { return std::move(decompress(wanted)); }

  /// Told while content is received, as text(), save() and download() do it; `on_upload` while it
  /// is sent.
  template <class F>
    requires std::invocable<F&, Progress>
  ClientRequest&& on_progress(F&& call) && {
    static_assert(SafeInAwait<F>,
                  "a closure with captures gets a name before it is passed to a request: GCC 12 "
                  "destroys a temporary one twice");
    return std::move(set_progress(std::forward<F>(call)));
  }
  template <class F>
    requires std::invocable<F&, Progress>
  ClientRequest&& on_upload(F&& call) && {
    static_assert(SafeInAwait<F>,
                  "a closure with captures gets a name before it is passed to a request: GCC 12 "
                  "destroys a temporary one twice");
    return std::move(set_upload(std::forward<F>(call)));
  }
  template <class F>
  ClientRequest& on_progress(F&&) & {
    static_assert(sizeof(F) == 0, "a request that has a name takes set_progress(call)");
    return *this;
  }
  template <class F>
  ClientRequest& on_upload(F&&) & {
    static_assert(sizeof(F) == 0, "a request that has a name takes set_upload(call)");
    return *this;
  }
  ClientRequest& set_progress(std::function<void(Progress)> call) &;
  ClientRequest& set_upload(std::function<void(Progress)> call) &;
  /// Told of each interim response but 100, as 103 (Early Hints): its status and its fields as
  /// lines.
  ClientRequest& set_interim(std::function<void(Status, std::string_view lines)> call) &;
  /// Told of each head as it went out or came in, for who wants to see them: also of requests that
  /// are repeated, and of responses that lead to another request (redirects, challenges). Lines as
  /// HTTP/1 has them, without the empty one, of HTTP/2 as well; credentials are among them.
  ClientRequest& set_heads(std::function<void(HeadOf, std::string_view lines)> call) &;

  /// Sends it; the same as `co_await` on the request itself.
  ///
  /// Waits for: the head of the response: ClientTimeouts.
  /// Ends with: MalformedUrl; what connecting ends with (NameNotResolved, Refused, TimedOut,
  ///            TlsCertificate, ...); what a response may not be; TooManyRedirects,
  ///            RedirectRefused. Any status is a response. The problem's text says which request,
  ///            and why. What the producer of a stream throws comes out here.
  [[nodiscard]] Task<Result<ClientResponse, Problem>> send() &&;
  auto operator co_await() && { return std::move(*this).send(); }
  template <class Self = ClientRequest>
  Task<Result<ClientResponse, Problem>> operator co_await() & {
    static_assert(sizeof(Self) == 0,
                  "a request is sent once: co_await std::move(request), or await the expression "
                  "that makes it");
    return std::move(*this).send();
  }
  /// Sends it and reads the content as one text. A status of 400 and above is no error.
  [[nodiscard]] Task<Result<std::string, Problem>> text() &&;
  /// Sends it and saves the content: ClientResponse::save. Any status but 2xx is an error
  /// (UnexpectedStatus), and no file.
  [[nodiscard]] Task<Result<std::uint64_t, Problem>> save(std::string path) &&;
  /// The same, going on where an earlier one has ended. The file gets the server's time of its last
  /// change, where that is told: by that, and its size, it is known again.
  ///
  /// RFC:       9110 §14, §13.1.5
  [[nodiscard]] Task<Result<Downloaded, Problem>> download(std::string path,
                                                           DownloadOptions options) &&;
  /// Sends it and calls back with what came of it, in this thread, at the end of a turn. The client
  /// owns what runs until then: destroyed, it calls nobody. What the callback throws goes to
  /// ClientOptions::on_exception, or comes out of Client::close().
  void then(std::function<void(Result<ClientResponse, Problem>)> call) &&;

 private:
  std::shared_ptr<client::Core> core_;
  std::unique_ptr<client::RequestSpec> spec_;
};

}  // namespace skua
