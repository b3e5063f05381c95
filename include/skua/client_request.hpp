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
#include <type_traits>
#include <utility>

#include "skua/body_writer.hpp"
#include "skua/bytes.hpp"
#include "skua/client_response.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"
#include "skua/mistakes.hpp"
#include "skua/multipart_writer.hpp"
#include "skua/task.hpp"

namespace skua {

namespace client {
class Core;
struct RequestAccess;
struct RequestSpec;
}  // namespace client

namespace detail {

template <class T>
constexpr void need_move() {
  static_assert(never<T>,
                "a request is sent once: co_await std::move(request), or await the expression that "
                "makes it");
}

template <class T>
constexpr auto need_sending() {
  static_assert(never<T>,
                "a request has a response only after it was awaited: `auto response = co_await "
                "client.get(url);`, then test it, then response->status()");
}

}  // namespace detail

/// Options of a download.
struct DownloadOptions {
  /// Resumes an earlier partial download if the server's file is unchanged; a file that is already
  /// complete is not downloaded again. Data is kept in `.NAME.part` until it is complete, and after
  /// a failure if the server sent a validator (a strong ETag, or Last-Modified).
  bool resume = false;
};

/// The result of a download.
struct Downloaded {
  std::uint64_t size_bytes = 0;     ///< of the file
  std::uint64_t resumed_bytes = 0;  ///< of these, kept from an earlier download
};

/// The kind of a reported head; see ClientRequest::on_head().
enum class HeadOf : std::uint8_t { Request, Response };

/// A request to be sent; see Client::get() and the like:
///
/// ```cpp
/// auto created = co_await client.post("/users").bearer(token).json(R"({"name": "Ada"})");
/// if (!created) co_return report(created.error().text);
/// ```
/// Lifetime:  the client outlives the request and its tasks.
class SKUA_API ClientRequest final {
 public:
  ClientRequest(std::shared_ptr<client::Core> core, Method method, std::string_view url);
  ClientRequest(std::shared_ptr<client::Core> core, std::string_view method, std::string_view url);
  ClientRequest(ClientRequest&&) noexcept;
  ClientRequest& operator=(ClientRequest&&) noexcept;
  ~ClientRequest();

  // Each setter has two overloads: for `client.get(url).bearer(token)`, and for a named request.

  /// Adds a field.
  ///
  /// Ends with: std::invalid_argument for a malformed field, and for fields that frame the content:
  ///            Content-Length, Transfer-Encoding.
  ClientRequest& header(std::string_view name, std::string_view value) &;
  ClientRequest&& header(std::string_view name, std::string_view value) && {
    return std::move(header(name, value));
  }
  template <detail::NotText T>
  ClientRequest&& header(std::string_view, const T&) {
    detail::need_text<T>();
    return std::move(*this);
  }
  /// Leaves out a default field: User-Agent, Accept, Accept-Encoding.
  ClientRequest& without_header(std::string_view name) &;
  ClientRequest&& without_header(std::string_view name) && {
    return std::move(without_header(name));
  }
  /// Adds a parameter to the URL's query, encoded.
  ClientRequest& query(std::string_view name, std::string_view value) &;
  ClientRequest&& query(std::string_view name, std::string_view value) && {
    return std::move(query(name, value));
  }
  template <detail::NotText T>
  ClientRequest&& query(std::string_view, const T&) {
    detail::need_text<T>();
    return std::move(*this);
  }

  /// Sets the content, of any kind; an empty type adds no Content-Type. A request with text or a
  /// file range can be repeated after a redirect or a challenge; one with a stream cannot.
  ClientRequest& body(Body content, std::string_view type = "text/plain; charset=utf-8") &;
  ClientRequest&& body(Body content, std::string_view type = "text/plain; charset=utf-8") && {
    return std::move(body(std::move(content), type));
  }
  /// Sets JSON content, which is passed as text.
  ClientRequest& json(std::string text) & { return body(std::move(text), "application/json"); }
  ClientRequest&& json(std::string text) && { return std::move(json(std::move(text))); }
  template <class T>
    requires(!std::convertible_to<T &&, std::string> || requires(const T& value) { value.dump(); })
  ClientRequest&& json(T&&) {
    static_assert(detail::never<T>, "JSON is passed as text: write json.dump()");
    return std::move(*this);
  }
  /// Sets content that is produced while it is sent; `length_bytes` is its size, if known.
  ///
  /// Lifetime:  what `produce` captures lives until the request has ended.
  ClientRequest& stream(std::string_view type, std::function<Task<>(BodyWriter&)> produce,
                        std::optional<std::uint64_t> length_bytes = std::nullopt) &;
  template <class F>
    requires(!detail::Producer<F>)
  ClientRequest&& stream(std::string_view, F&&, std::optional<std::uint64_t> = std::nullopt) {
    detail::need_producer<F>();
    return std::move(*this);
  }
  template <detail::Producer F>
  ClientRequest&& stream(std::string_view type, F&& produce,
                         std::optional<std::uint64_t> length_bytes = std::nullopt) && {
    return std::move(stream(type,
                            std::function<Task<>(BodyWriter&)>(named<F>(std::forward<F>(produce))),
                            length_bytes));
  }
  /// Adds a form field: urlencoded, or multipart once there is a file().
  ClientRequest& field(std::string_view name, std::string_view value) &;
  ClientRequest&& field(std::string_view name, std::string_view value) && {
    return std::move(field(name, value));
  }
  template <detail::NotText T>
  ClientRequest&& field(std::string_view, const T&) {
    detail::need_text<T>();
    return std::move(*this);
  }
  /// Adds a file to a form; it is read while it is sent. An empty `type` is
  /// application/octet-stream.
  ClientRequest& file(std::string_view name, std::string_view path, std::string_view type = {}) &;
  ClientRequest&& file(std::string_view name, std::string_view path,
                       std::string_view type = {}) && {
    return std::move(file(name, path, type));
  }

  /// Adds a file with this text as its content.
  ClientRequest& file_of(std::string_view name, std::string_view filename, std::string text,
                         std::string_view type = {}) &;
  ClientRequest&& file_of(std::string_view name, std::string_view filename, std::string text,
                          std::string_view type = {}) && {
    return std::move(file_of(name, filename, std::move(text), type));
  }
  /// Sets multipart content from any sources, also `multipart/related`. It is read on another
  /// thread while it is sent, and cannot be sent again. Replaces body(), fields, and files.
  ClientRequest& multipart(MultipartWriter parts) &;
  ClientRequest&& multipart(MultipartWriter parts) && {
    return std::move(multipart(std::move(parts)));
  }

  /// Sends a user name and password (Basic) without waiting for a challenge. RFC 7617
  ///
  /// Ends with: Exception(MalformedChallenge) for a name with a colon, or for control characters.
  ClientRequest& basic_auth(std::string_view user, std::string_view password) &;
  ClientRequest&& basic_auth(std::string_view user, std::string_view password) && {
    return std::move(basic_auth(user, password));
  }
  /// Answers a challenge with a user name and password: Digest if offered, else Basic. RFC 7616
  ClientRequest& auth(std::string_view user, std::string_view password) &;
  ClientRequest&& auth(std::string_view user, std::string_view password) && {
    return std::move(auth(user, password));
  }
  /// Sends a bearer token. RFC 6750
  ClientRequest& bearer(std::string_view token) &;
  ClientRequest&& bearer(std::string_view token) && { return std::move(bearer(token)); }

  /// Overrides ClientOptions::timeout.
  ClientRequest& timeout(Duration limit) &;
  ClientRequest&& timeout(Duration limit) && { return std::move(timeout(limit)); }
  template <detail::Number T>
  ClientRequest&& timeout(T) {
    detail::need_unit<T>();
    return std::move(*this);
  }
  /// Limits the redirects that are followed; overrides ClientOptions::redirects.
  ClientRequest& redirects(unsigned limit) &;
  ClientRequest&& redirects(unsigned limit) && { return std::move(redirects(limit)); }
  /// Limits the speed of the content in each direction, as counted before decoding; zero: no limit.
  /// The server is slowed down once the buffers on the way are full.
  ClientRequest& limit_rate(std::uint64_t bytes_per_second) &;
  ClientRequest&& limit_rate(std::uint64_t bytes_per_second) && {
    return std::move(limit_rate(bytes_per_second));
  }
  /// Sends Expect: 100-continue, and retries without it after 417. RFC 9110 §10.1.1
  ClientRequest& expect_continue() &;
  ClientRequest&& expect_continue() && { return std::move(expect_continue()); }
  /// Overrides ClientOptions::decompress.
  ClientRequest& decompress(bool wanted) &;
  ClientRequest&& decompress(bool wanted) && { return std::move(decompress(wanted)); }

  /// Called while text(), save() or download() receives content.
  ClientRequest& on_progress(std::function<void(Progress)> call) &;
  template <class F>
    requires std::invocable<F&, Progress>
  ClientRequest&& on_progress(F&& call) && {
    return std::move(on_progress(std::function<void(Progress)>(named<F>(std::forward<F>(call)))));
  }
  /// Called while content is sent.
  ClientRequest& on_upload(std::function<void(Progress)> call) &;
  template <class F>
    requires std::invocable<F&, Progress>
  ClientRequest&& on_upload(F&& call) && {
    return std::move(on_upload(std::function<void(Progress)>(named<F>(std::forward<F>(call)))));
  }
  /// Called with the status and field lines of each interim response but 100, e.g. 103 (Early
  /// Hints).
  ClientRequest& on_interim(std::function<void(Status, std::string_view lines)> call) &;
  template <class F>
    requires std::invocable<F&, Status, std::string_view>
  ClientRequest&& on_interim(F&& call) && {
    return std::move(
        on_interim(std::function<void(Status, std::string_view)>(named<F>(std::forward<F>(call)))));
  }
  /// Called with every head as it was sent or received, including those of repeated requests and of
  /// redirects and challenges. The lines are in HTTP/1 form, without the empty one, for HTTP/2 too;
  /// they include credentials.
  ClientRequest& on_head(std::function<void(HeadOf, std::string_view lines)> call) &;
  template <class F>
    requires std::invocable<F&, HeadOf, std::string_view>
  ClientRequest&& on_head(F&& call) && {
    return std::move(
        on_head(std::function<void(HeadOf, std::string_view)>(named<F>(std::forward<F>(call)))));
  }

  /// Sends the request; so does `co_await` on the request itself.
  ///
  /// Waits for: the head of the response: ClientTimeouts.
  /// Ends with: MalformedUrl; connection errors (NameNotResolved, Refused, TimedOut,
  ///            TlsCertificate, ...); errors of a malformed response; TooManyRedirects,
  ///            RedirectRefused; what the producer of a stream throws. No status is an error. The
  ///            problem's text names the request and the reason.
  [[nodiscard]] Task<Result<ClientResponse, Problem>> send() &&;
  auto operator co_await() && { return std::move(*this).send(); }
  template <class Self = ClientRequest>
  Task<Result<ClientResponse, Problem>> operator co_await() & {
    detail::need_move<Self>();
    return std::move(*this).send();
  }
  /// Sends the request and reads the content as one text. No status is an error.
  [[nodiscard]] Task<Result<std::string, Problem>> text() &&;
  /// Sends the request and saves the content; see ClientResponse::save. Any status but 2xx is an
  /// error (UnexpectedStatus) and writes no file.
  [[nodiscard]] Task<Result<std::uint64_t, Problem>> save(std::string path) &&;
  /// Like save(), but can resume an earlier download. The file gets the server's Last-Modified
  /// time, if there is one: a later download recognizes the file by that and its size.
  ///
  /// RFC:       9110 §14, §13.1.5
  [[nodiscard]] Task<Result<Downloaded, Problem>> download(std::string path,
                                                           DownloadOptions options) &&;
  /// Sends the request and calls back with the result, on this thread, at the end of a turn; never
  /// after the client was destroyed. What the callback throws goes to ClientOptions::on_exception,
  /// or is thrown by Client::close().
  void then(std::function<void(Result<ClientResponse, Problem>)> call) &&;
  template <class F>
    requires(!std::is_convertible_v<F &&, std::function<void(Result<ClientResponse, Problem>)>>)
  void then(F&&) && {
    static_assert(detail::never<F>,
                  "then() calls back with a result: [](skua::Result<skua::ClientResponse, "
                  "skua::Problem> response) { ... }");
  }

  // Mistakes: a named request that is sent without std::move, and one that was not sent yet.

  template <class Self = ClientRequest>
  Task<Result<ClientResponse, Problem>> send() & {
    detail::need_move<Self>();
    return std::move(*this).send();
  }
  template <class Self = ClientRequest>
  Task<Result<std::string, Problem>> text() & {
    detail::need_move<Self>();
    return std::move(*this).text();
  }
  template <class Self = ClientRequest>
  Task<Result<std::uint64_t, Problem>> save(std::string path) & {
    detail::need_move<Self>();
    return std::move(*this).save(std::move(path));
  }
  template <class F>
  void then(F&&) & {
    detail::need_move<F>();
  }
  template <class Self = ClientRequest>
  explicit operator bool() const {
    detail::need_sending<Self>();
    return false;
  }
  template <class Self = ClientRequest>
  auto operator->() const {
    detail::need_sending<Self>();
    return this;
  }
  template <class Self = ClientRequest>
  Status status() const {
    detail::need_sending<Self>();
    return Status::Ok;
  }

 private:
  friend struct client::RequestAccess;

  template <class F>
  static F&& named(F&& call) noexcept {
    static_assert(SafeInAwait<F>,
                  "store a closure with captures in a variable before passing it to a request: "
                  "GCC 12 destroys a temporary one twice");
    return std::forward<F>(call);
  }

  std::shared_ptr<client::Core> core_;
  std::unique_ptr<client::RequestSpec> spec_;
};

}  // namespace skua
