// SPDX-License-Identifier: MIT
// In: a name and an origin. Out: the cookies and headers of earlier commands, and a file for later
// ones.
#include "get/session.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/ascii.hpp"
#include "base/disk.hpp"
#include "client/problem.hpp"
#include "files/save.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t longest_name = 64;
constexpr unsigned owner_only = 0600;  // it has credentials
constexpr std::string_view header_mark = "#header ";

Problem unusable(const std::string& what, Error error) {
  return {.error = error, .text = "cannot " + what + ": " + client::reason_of(error)};
}

bool is_name_character(char c) noexcept {
  return ascii::is_alpha(c) || ascii::is_digit(c) || c == '-' || c == '_' || c == '.';
}

// A folder name for an origin, such as `https-example.com-443`. The scheme keeps what was sent
// over TLS from being sent without.
std::string folder_of(const Url& url) {
  const Origin origin = url.origin().value_or(Origin());
  std::string name = origin.scheme + "-" + origin.host + "-" + std::to_string(origin.port);
  for (char& c : name) {
    if (!is_name_character(c)) c = '_';
  }
  return name;
}

// Headers about one request or its content are not kept; cookies are, by the jar.
bool is_kept(std::string_view name) {
  const auto begins = [name](std::string_view with) {
    return ascii::equals_ignoring_case(name.substr(0, with.size()), with);
  };
  const auto is = [name](std::string_view one) { return ascii::equals_ignoring_case(name, one); };
  return !begins("Content-") && !begins("If-") && !is("Range") && !is("Cookie") && !is("Host");
}

bool is_named(const RequestItems::Field& field, std::string_view name) {
  return ascii::equals_ignoring_case(field.name, name);
}

}  // namespace

bool is_session_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= longest_name && name.front() != '.' &&
         std::ranges::all_of(name, is_name_character);
}

Result<Session, Problem> Session::open(const GetOptions& options) {
  const std::string settings = settings_folder();
  if (settings.empty()) {
    return Problem{.error = Errc::Unsupported,
                   .text = "there is no folder for sessions: set XDG_CONFIG_HOME or HOME"};
  }
  const std::string origin = folder_of(options.urls.front());
  const bool is_one = std::ranges::all_of(
      options.urls, [&origin](const Url& url) { return folder_of(url) == origin; });
  if (!is_one) {
    return Problem{.error = Errc::Unsupported, .text = "--session takes URLs of one server only"};
  }
  Session session;
  session.folder_ = settings + "/sessions/" + origin;
  session.path_ = session.folder_ + "/" + options.session + ".txt";
  const auto about = disk::stat_of(session.path_);
  if (!about && about.error().code() == Errc::NotFound) return session;
  if (!about) return unusable("read " + session.path_, about.error());
  if (about->kind != disk::FileKind::Regular) {
    return Problem{.error = Errc::Unsupported, .text = session.path_ + " is not a regular file"};
  }
  Result<std::string, Problem> text = read_file(session.path_);
  if (!text) return std::move(text).error();
  session.text_ = *std::move(text);
  session.read(session.text_);
  return session;
}

void Session::read(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(header_mark)) continue;
    Result<RequestItems::Field, Problem> field = parse_field(line.substr(header_mark.size()));
    const bool is_valid = field && field->value && is_kept(field->name);
    if (is_valid) headers_.push_back(*std::move(field));
    if (!is_valid) ++dropped_;
  }
}

void Session::exchange_headers(GetOptions& options) {
  std::vector<RequestItems::Field>& fields = options.items.fields;
  const std::vector<RequestItems::Field> given = fields;
  for (const RequestItems::Field& field : headers_) {
    const bool is_given = std::ranges::any_of(
        given, [&field](const RequestItems::Field& one) { return is_named(one, field.name); });
    // Only one of them is an Authorization.
    const bool is_replaced =
        is_named(field, "Authorization") && (options.credentials || !options.token.empty());
    if (!is_given && !is_replaced) fields.push_back(field);
  }
  std::erase_if(headers_, [&given](const RequestItems::Field& kept) {
    return std::ranges::any_of(
        given, [&kept](const RequestItems::Field& one) { return is_named(one, kept.name); });
  });
  for (const RequestItems::Field& field : given) {
    if (field.value && !field.value->empty() && is_kept(field.name)) headers_.push_back(field);
  }
}

void Session::fill(CookieJar& jar, std::chrono::sys_seconds now) const {
  static_cast<void>(jar.add_netscape(text_, now));
}

Result<void, Problem> Session::save(const CookieJar& jar, std::chrono::sys_seconds now) const {
  const std::string what = "write " + path_;
  if (!make_private_folder(folder_)) return unusable(what, Error::from_system(errno, "mkdir"));
  std::string text = "# A session of skua. It has credentials: keep it secret.\n";
  for (const RequestItems::Field& field : headers_) {
    text.append(header_mark)
        .append(field.name)
        .append(": ")
        .append(field.value.value_or(""))
        .append("\n");
  }
  text += jar.to_netscape(now);
  files::PartialFile file;
  Result<void> done = file.create(path_, owner_only);
  if (done) done = file.write(text);
  if (done) done = file.keep_as(path_);
  if (!done) return unusable(what, done.error());
  return {};
}

}  // namespace skua::cli
