// SPDX-License-Identifier: MIT
// In: options. Out: a command line of curl, with only those options that differ from its defaults.
#include "get/curl_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "base/ascii.hpp"
#include "base/text/number_text.hpp"
#include "skua/form.hpp"
#include "skua/query.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

bool is_safe_unquoted(char c) noexcept {
  return ascii::is_digit(c) || ascii::is_alpha(c) ||
         std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
}

std::string quoted_with_escapes(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      word.append("\\").push_back(c);
    } else if (octet >= 0x20 && octet < 0x7f) {
      word.push_back(c);
    } else {
      // Octal: a digit after \x1b would belong to it in some shells.
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\%03o", unsigned{octet});
      word.append(code.data());
    }
  }
  return word + "'";
}

class CurlCommand final {
 public:
  CurlCommand& add(std::string_view option) {
    text_.append(" ").append(option);
    return *this;
  }
  CurlCommand& add(std::string_view option, std::string_view value) {
    add(option).text_.append(" ").append(shell_word(value));
    return *this;
  }
  void add_if_given(std::string_view option, std::string_view value) {
    if (!value.empty()) add(option, value);
  }
  void add_word(std::string_view word) { text_.append(" ").append(shell_word(word)); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_ = "curl";
};

std::string whole_url(const Url& url, const RequestItems& items) {
  if (items.query.empty()) return url.to_string();
  QueryBuilder query(url.query());
  for (const auto& [name, value] : items.query) query.add(name, value);
  Url whole = url;
  static_cast<void>(whole.set_query(query.to_string()));  // an encoded query is valid
  return whole.to_string();
}

std::string curl_seconds(Duration time) {
  return base::short_text(std::chrono::duration<double>(time).count(), 9);
}

// curl's own quotes, inside those of the shell: a file name may contain commas and semicolons.
std::string in_curl_quotes(std::string_view path) {
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string form_file(const RequestItems::File& file) {
  std::string text = file.name + "=@" + in_curl_quotes(file.path);
  if (!file.type.empty()) text += ";type=" + file.type;
  if (file.filename.empty()) return text;
  return text + ";filename=" + in_curl_quotes(file.filename);
}

void add_content(CurlCommand& command, const GetOptions& options, const PreparedRequest& prepared) {
  const RequestItems& items = options.items;
  const std::string type = prepared.content_type();
  if (!type.empty()) command.add("-H", "Content-Type: " + type);
  if (is_input(options)) {
    command.add("--data-binary", "@-");
  } else if (const auto path = data_file(options)) {
    command.add("--data-binary", "@" + *path);
  } else if (const auto text = prepared.text()) {
    command.add("--data-raw", *text);
  } else if (items.files.empty()) {
    Form form;
    for (const auto& [name, value] : prepared.form()) form.add(name, value);
    if (!prepared.form().empty()) command.add("--data-raw", form.to_string());
  } else {
    for (const auto& [name, value] : prepared.form()) {
      command.add("--form-string", std::string(name).append("=").append(value));
    }
    for (const RequestItems::File& file : items.files) command.add("-F", form_file(file));
  }
}

void add_method(CurlCommand& command, const GetOptions& options) {
  const bool has_content = options.data || options.items.has_content();
  if (options.method == "HEAD" && !has_content) {
    command.add("-I");
  } else if (options.method != (has_content ? "POST" : "GET")) {
    command.add("-X", options.method);
  }
}

void add_request(CurlCommand& command, const GetOptions& options, const PreparedRequest& prepared) {
  for (const RequestItems::Field& field : options.items.fields) {
    const bool is_empty = field.value && field.value->empty();
    command.add("-H", is_empty      ? field.name + ";"
                      : field.value ? field.name + ": " + *field.value
                                    : field.name + ":");
  }
  if (!options.token.empty()) command.add("-H", "Authorization: Bearer " + options.token);
  if (options.digest) command.add("--anyauth");
  if (options.credentials) {
    command.add("-u", options.credentials->first + ":" + options.credentials->second);
  }
  if (options.netrc.is_wanted && options.netrc.path.empty()) command.add("-n");
  command.add_if_given("--netrc-file", options.netrc.path);
  command.add_if_given("-b", options.cookie_file);
  command.add_if_given("-c", options.cookie_output);
  add_content(command, options, prepared);
}

void add_connection(CurlCommand& command, const GetOptions& options,
                    const PreparedRequest& prepared) {
  const ClientOptions& client = options.client;
  if (client.redirects.limit != 0) command.add("-L");
  if (client.redirects.limit > 0 && client.redirects.limit != RedirectOptions().limit) {
    command.add("--max-redirs", std::to_string(client.redirects.limit));
  }
  if (client.decompress && !prepared.has_field("accept-encoding")) command.add("--compressed");
  if (client.versions == HttpVersions::Http1) command.add("--http1.1");
  if (client.versions == HttpVersions::Http2) {
    const bool is_secure = options.urls.front().scheme() == "https";
    command.add(is_secure ? "--http2" : "--http2-prior-knowledge");
  }
  command.add_if_given("-x", client.proxy.url);
  command.add_if_given("--noproxy", client.proxy.except);
  if (client.ip_versions == IpVersions::Ipv4) command.add("-4");
  if (client.ip_versions == IpVersions::Ipv6) command.add("-6");
  command.add_if_given("--interface", client.network_interface);
  command.add_if_given("--unix-socket", client.unix_socket);
  for (const HostOverride& host : client.hosts) {
    const std::string port = host.port == 0 ? ":" : ":" + std::to_string(host.port);
    const bool is_six = host.address.find(':') != std::string::npos;
    std::string route = host.host + port;
    route.append(is_six ? ":[" : ":").append(host.address).append(is_six ? "]" : "").append(port);
    command.add("--connect-to", route);
  }
  if (client.timeout != no_time_limit) command.add("-m", curl_seconds(client.timeout));
  if (client.timeouts.connect != ClientTimeouts().connect) {
    command.add("--connect-timeout", curl_seconds(client.timeouts.connect));
  }
  if (options.bytes_per_second != 0) {
    command.add("--limit-rate", std::to_string(options.bytes_per_second));
  }
  command.add_if_given("--cacert", client.tls.authorities);
  command.add_if_given("--cert", client.tls.certificate.certificate);
  command.add_if_given("--key", client.tls.certificate.private_key);
  if (client.tls.insecure) command.add("-k");
  if (options.retry.count != 0) command.add("--retry", std::to_string(options.retry.count));
}

void add_output(CurlCommand& command, const GetOptions& options) {
  const bool hides_errors = options.hides_errors || options.saves();
  if (options.fail) command.add(hides_errors ? "--fail" : "--fail-with-body");
  if (options.keeps_dots) command.add("--path-as-is");
  if (options.with_head) command.add("-i");
  if (options.verbose) command.add("-v");
  if (options.resume) command.add("-C", "-");
  if (!options.output.empty()) {
    command.add("-o", options.output);
  } else if (options.download) {
    command.add("--remote-name-all");
  }
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_safe_unquoted)) return std::string(text);
  const bool has_lines = text.find_first_of("\n\t") != text.npos;
  if (has_lines || harmless(text) != text) return quoted_with_escapes(text);
  std::string word = "'";
  for (const char c : text) word.append(c == '\'' ? "'\\''" : std::string_view(&c, 1));
  return word + "'";
}

std::string curl_text(const GetOptions& options, const PreparedRequest& prepared) {
  CurlCommand command;
  add_method(command, options);
  for (const Url& url : options.urls) command.add_word(whole_url(url, options.items));
  add_request(command, options, prepared);
  add_connection(command, options, prepared);
  add_output(command, options);
  return command.text();
}

}  // namespace skua::cli
