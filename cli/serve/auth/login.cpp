// SPDX-License-Identifier: MIT
// In: SKUA_AUTH and --auth. Out: middleware that requires one of their logins.
#include "serve/auth/login.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "get/request_items.hpp"
#include "serve/auth/password_file.hpp"
#include "serve/auth/password_guard.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "skua/auth.hpp"
#include "skua/next.hpp"
#include "skua/task.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

constexpr const char* site_realm = "skua";

// Compares both parts in any case, so that the time does not tell which of them is wrong.
auth::BasicGuard::Check check_of(Login login) {
  return [login = std::move(login)](std::string_view user, std::string_view password) {
    const bool is_user = auth::token_equals(user, login.user);
    const bool is_password = auth::token_equals(password, login.password);
    return is_user && is_password;
  };
}

Result<Passwords, Problem> read_passwords(const ServeOptions& options, const Passwords& before) {
  const std::string& name = options.auth;
  const auto text = read_file(name);
  if (!text) return Problem{text.error().error, "--auth: " + text.error().text};
  if (is_served(resolved(name), options)) {
    return Problem{Error(Errc::Unsupported, "--auth"),
                   "--auth: " + name +
                       " is in the served folder: move it, so that no client can "
                       "ask for it"};
  }
  auto file = PasswordFile::parse(*text);
  if (!file) {
    return Problem{file.error().error, "--auth: " + name + ", " + file.error().text};
  }
  if (before) file->take_over(*before);
  return std::make_shared<const PasswordFile>(*std::move(file));
}

/// Tells uploads, and changes by WebDAV, from other requests.
class Uploads {
 public:
  explicit Uploads(const ServeOptions& options)
      : folder_(options.uploads.folder), webdav_(options.webdav) {
    for (const ProxyRule& rule : options.site.proxies) proxied_.push_back(rule.prefix);
  }

  [[nodiscard]] bool has(const Request& request) const {
    const std::string_view path = request.path();
    if (!is_upload(request, path) && !is_webdav_change(request, webdav_)) return false;
    return std::ranges::none_of(proxied_, [path](const std::string& prefix) {
      return path.starts_with(prefix) &&
             (path.size() == prefix.size() || path[prefix.size()] == '/');
    });
  }

 private:
  [[nodiscard]] bool is_upload(const Request& request, std::string_view path) const {
    if (folder_.empty() || !path.starts_with(folder_)) return false;
    if (request.method() == Method::Put || request.method() == Method::Post) return true;
    const bool is_part = path.substr(folder_.size()).starts_with(upload_parts);
    return is_part && request.method() != Method::Options;
  }

  std::string folder_;
  ServeWebDav webdav_;
  std::vector<std::string> proxied_;
};

/// Requires one login, either for uploads, or for all other requests.
class LoginGuard {
 public:
  // For paths below those of --proxy: they are compared by their beginnings only.
  static constexpr bool ignores_path = true;

  enum class Asked : bool { Others, Uploads };

  LoginGuard(std::string_view name, const Login& login, std::optional<Uploads> uploads, Asked asked)
      : guard_(auth::basic(name, check_of(login))), uploads_(std::move(uploads)), asked_(asked) {}

  std::optional<Response> operator()(Request& request) const {
    const bool is_upload = uploads_ && uploads_->has(request);
    return is_upload == (asked_ == Asked::Uploads) ? guard_(request) : std::nullopt;
  }

 private:
  auth::BasicGuard guard_;
  std::optional<Uploads> uploads_;
  Asked asked_;
};

/// Requires a login of a file for all requests but uploads with a login of their own.
class FileGuard {
 public:
  // For paths below those of --proxy: they are compared by their beginnings only.
  static constexpr bool ignores_path = true;

  FileGuard(std::optional<Uploads> others, PasswordGuard guard)
      : others_(std::move(others)), guard_(std::move(guard)) {}

  Task<Response> operator()(Request& request, Next next) const {
    return others_ && others_->has(request) ? next(request) : guard_(request, next);
  }

 private:
  std::optional<Uploads> others_;
  PasswordGuard guard_;
};

}  // namespace

Result<Passwords, Problem> require_login(Router& router, const ServeOptions& options,
                                         const Passwords& before) {
  const std::optional<Login>& login = options.site.login;
  std::optional<Uploads> uploads;
  if (const auto& upload_login = options.site.upload_login) {
    uploads.emplace(options);
    router.use(LoginGuard("skua uploads", *upload_login, uploads, LoginGuard::Asked::Uploads));
  }
  if (options.auth.empty()) {
    if (login) router.use(LoginGuard(site_realm, *login, uploads, LoginGuard::Asked::Others));
    return Passwords();
  }
  auto passwords = read_passwords(options, before);
  if (passwords) {
    PasswordGuard guard(site_realm, *passwords, login ? check_of(*login) : nullptr);
    router.use(FileGuard(std::move(uploads), std::move(guard)));
  }
  return passwords;
}

}  // namespace skua::cli
