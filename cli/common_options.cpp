// SPDX-License-Identifier: MIT
#include "common_options.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <map>

namespace skua::cli {

void declare_tls(CLI::App& parser, ClientTlsOptions& tls) {
  parser.add_option("--ca", tls.authorities, "Who may sign servers' certificates: a PEM file")
      ->option_text("FILE [the system's]");
  CLI::Option* const certificate =
      parser.add_option("--cert", tls.certificate.certificate, "Certificate to show, PEM")
          ->option_text("FILE");
  parser.add_option("--key", tls.certificate.private_key, "Its private key, PEM")
      ->needs(certificate)
      ->option_text("FILE [in --cert]");
  parser.add_flag("-k,--insecure", tls.insecure,
                  "Take any certificate: whoever can reach the wire can read and change all");
}

void declare_colour(CLI::App& parser, Colour& colour) {
  const std::map<std::string, Colour> colours{
      {"auto", Colour::Auto}, {"always", Colour::Always}, {"never", Colour::Never}};
  parser
      .add_option("--colour,--color", colour,
                  "auto (on a terminal, and without NO_COLOR), always or never")
      ->transform(CLI::Transformer(colours))
      ->option_text("WHEN [auto]");
}

std::pair<std::string, std::string> split_at_colon(const std::string& option,
                                                   const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon == 0) {
    throw CLI::ValidationError(option, "'" + text + "' has no colon behind a name");
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::pair<std::string, std::string> split_field(const std::string& line) {
  auto field = split_at_colon("--header", line);
  field.second.erase(0, field.second.find_first_not_of(" \t"));
  return field;
}

CLI::Validator in_range(double least, double most) {
  const CLI::Range range(least, most);
  const auto check = [range](std::string& text) {
    double number = 0;
    const bool is_nan = CLI::detail::lexical_cast(text, number) && std::isnan(number);
    return is_nan ? "Value " + text + " is no number" : range(text);
  };
  return {check, range.get_description()};
}

CLI::Validator size_value() {
  const CLI::AsSizeValue size(false);
  const auto convert = [size](std::string& text) {
    const bool is_negative = text.find('-') != text.npos;
    return is_negative ? "Value " + text + " is no size" : size(text);
  };
  return {convert, size.get_description()};
}

Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

void warn_of(const ClientTlsOptions& tls) {
  if (!tls.insecure) return;
  std::fputs("skua: WARNING: --insecure: the server may be anybody, and others may read along\n",
             stderr);
}

}  // namespace skua::cli
