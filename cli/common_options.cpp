// SPDX-License-Identifier: MIT
#include "common_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text/number_text.hpp"
#include "crypto/digest.hpp"

namespace skua::cli {

namespace {

template <class T>
CLI::Validator number_between(T least, T most, const char* kind) {
  return CLI::Validator(
      [least, most, kind](std::string& text) {
        T number{};
        const char* const end = text.data() + text.size();
        const auto [rest, code] = std::from_chars(text.data(), end, number);
        const bool is_number = code == std::errc() && rest == end;
        if (is_number && number >= least && number <= most) return std::string();
        return "'" + text + "' is not a " + kind + " from " +
               base::short_text(static_cast<double>(least), 12) + " to " +
               base::short_text(static_cast<double>(most), 12);
      },
      "");
}

}  // namespace

void declare_tls(CLI::App& parser, ClientTlsOptions& tls) {
  parser.add_option("--ca", tls.authorities, "Trust the CA certificates in this PEM file")
      ->option_text("FILE [the system's]");
  CLI::Option* const certificate =
      parser.add_option("--cert", tls.certificate.certificate, "Client certificate (PEM)")
          ->option_text("FILE");
  parser
      .add_option("--key", tls.certificate.private_key,
                  "Private key (PEM); not needed if it is in the --cert file")
      ->needs(certificate)
      ->option_text("FILE");
  parser.add_flag("-k,--insecure", tls.insecure, "Accept any server certificate (insecure)");
  require_tls(parser);
}

void require_tls(CLI::App& parser) {
  if (crypto::is_available()) return;
  const std::string group = parser.option_defaults()->get_group();
  for (CLI::Option* const option : parser.get_options()) {
    if (option->get_group() == group) disable(*option, "TLS");
  }
}

void disable(CLI::Option& option, const std::string& lacking) {
  // Without a group CLI11 lists an option nowhere, nor names it in errors of its checks.
  const std::string problem = option.get_name() + ": this build of skua has no " + lacking;
  option.check([problem](const std::string&) -> std::string {
    throw CLI::ParseError(problem, CLI::ExitCodes::ValidationError);
  });
  option.group("");
}

std::string default_of(const CLI::Option& option) {
  const std::string shown = " " + option.get_option_text();
  const std::size_t bracket = shown.rfind(" [");
  if (bracket == shown.npos || !shown.ends_with(']')) return {};
  return shown.substr(bracket + 2, shown.size() - bracket - 3);
}

void declare_colour(CLI::App& parser, Colour& colour) {
  parser
      .add_option_function<std::string>(
          "--colour,--color",
          [&colour](const std::string& when) {
            colour = when == "always"  ? Colour::Always
                     : when == "never" ? Colour::Never
                                       : Colour::Auto;
          },
          "When to use colours: always, never, or auto (on a terminal, unless NO_COLOR is set)")
      ->check(one_of({"auto", "always", "never"}))
      ->option_text("WHEN [auto]");
}

void declare_backend(CLI::App& parser, BackendChoice& backend) {
  parser
      .add_option_function<std::string>(
          "--backend",
          [&backend](const std::string& name) { backend = parse_backend(name).value(); },
          "I/O back end: epoll, io_uring, iocp, kqueue, poll, or auto (the best one available)")
      ->check(one_of({"auto", "epoll", "io_uring", "iocp", "kqueue", "poll"}))
      ->option_text("NAME [auto]");
}

std::pair<std::string, std::string> split_at_colon(const std::string& option,
                                                   const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon == 0) {
    throw CLI::ValidationError(option, "'" + text + "' does not start with a name and a colon");
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::pair<std::string, std::string> split_field(const std::string& line) {
  auto field = split_at_colon("--header", line);
  field.second.erase(0, field.second.find_first_not_of(" \t"));
  return field;
}

CLI::Validator in_range(double least, double most) { return number_between(least, most, "number"); }

CLI::Validator whole_in_range(std::int64_t least, std::int64_t most) {
  return number_between(least, most, "whole number");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) list += i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  const auto check = [words, list](const std::string& text) {
    const bool is_one = std::ranges::find(words, text) != words.end();
    return is_one ? std::string() : "'" + text + "' is not " + list;
  };
  return {check, "{" + CLI::detail::join(words) + "}"};
}

CLI::Validator size_value() {
  const CLI::AsSizeValue size(false);
  const auto convert = [size](std::string& text) {
    const std::string given = text;
    bool is_size = text.find('-') == text.npos;
    try {
      is_size = is_size && size(text).empty();
    } catch (const CLI::ValidationError&) {  // an unknown unit
      is_size = false;
    }
    std::uint64_t bytes = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, bytes);
    is_size = is_size && code == std::errc() && rest == end;
    return is_size ? std::string() : "'" + given + "' is not a size such as 500, 64K or 2GiB";
  };
  return {convert, ""};
}

CLI::Validator seconds_value() {
  const auto convert = [](std::string& text) -> std::string {
    constexpr std::pair<std::string_view, double> units[] = {
        {"ms", 0.001}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
    const std::size_t end = text.find_first_not_of("0123456789.");
    if (end == text.npos || end == 0) return {};  // other checks know what is wrong
    for (const auto& [unit, seconds] : units) {
      if (std::string_view(text).substr(end) != unit) continue;
      double number = 0;
      const auto [rest, code] = std::from_chars(text.data(), text.data() + end, number);
      if (code != std::errc() || rest != text.data() + end) return {};
      text = base::short_text(number * seconds, 9);
      return {};
    }
    return {};
  };
  return {convert, ""};
}

Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

std::string tls_advice(std::string_view problem, const ClientTlsOptions& tls) {
  const auto says = [problem](std::string_view words) {
    return problem.find(words) != problem.npos;
  };
  if (says("the certificate of ")) {
    return "Use --ca FILE to trust its CA, or -k to accept any certificate.\n";
  }
  if (!says("the certificate was not accepted")) return "";
  return tls.certificate.certificate.empty()
             ? "The server requires a client certificate: use --cert FILE and --key FILE.\n"
             : "The server rejected the client certificate given with --cert.\n";
}

void warn_of(const ClientTlsOptions& tls) {
  if (!tls.insecure) return;
  std::fputs("skua: WARNING: --insecure: the server certificate is not verified\n", stderr);
}

}  // namespace skua::cli
