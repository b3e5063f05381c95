// SPDX-License-Identifier: MIT
#include "common_options.hpp"

#include <cstdio>
#include <map>

namespace skua::cli {

void declare_tls(CLI::App& parser, ClientTlsOptions& tls) {
  parser.add_option("--ca", tls.authorities, "Who may sign servers' certificates: a PEM file")
      ->option_text("FILE [the system's]");
  parser.add_option("--cert", tls.certificate.certificate, "Certificate to show, PEM")
      ->option_text("FILE");
  parser.add_option("--key", tls.certificate.private_key, "Its private key, PEM")
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

Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

void warn_of(const ClientTlsOptions& tls) {
  if (!tls.insecure) return;
  std::fputs("skua: WARNING: --insecure: the server may be anybody, and others may read along\n",
             stderr);
}

}  // namespace skua::cli
