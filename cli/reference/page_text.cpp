// SPDX-License-Identifier: MIT
#include "reference/page_text.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace skua::cli::reference {
namespace {

constexpr Term no_colour{"NO_COLOR", "If set and not empty, colours are off by default."};
constexpr Term certificates{
    "SSL_CERT_FILE, SSL_CERT_DIR",
    "The file and the folder of trusted CA certificates, in place of the system's."};

constexpr Term get_environment[] = {
    {"http_proxy, https_proxy, all_proxy",
     "The URLs of proxies for http:// URLs, for https:// URLs and for both. `HTTPS_PROXY` and "
     "`ALL_PROXY` work too; `HTTP_PROXY` does not, since a web server's request could set it."},
    {"no_proxy, NO_PROXY", "Hosts to reach without a proxy, as in `--no-proxy`."},
    {"SKUA_CONFIG",
     "A file of options, instead of the user's `get.toml`; empty: none. `skua curl` reads "
     "neither."},
    no_colour,
    certificates,
};
constexpr Term get_files[] = {
    {".NAME.part, .NAME.part.origin",
     "An incomplete download of `NAME`, and what `--continue` needs to resume it."},
    {"~/.config/skua/get.toml",
     "Options for every request, if the file exists. Its keys are the long names of options; the "
     "command line wins. `XDG_CONFIG_HOME` replaces `~/.config`."},
    {"~/.config/skua/sessions/SCHEME-HOST-PORT/NAME.txt",
     "The cookies and headers of `--session`, readable for their owner only."},
};
constexpr Term serve_environment[] = {
    {"SKUA_SERVE_NAME",
     "Sets an option: its name in capitals, with `_` for `-`, such as `SKUA_SERVE_MAX_AGE` for "
     "`--max-age`. A flag is `true`. The command line wins."},
    {"LISTEN_PID, LISTEN_FDS",
     "Sockets that systemd has opened for the server, see `systemd.socket`(5)."},
    {"SKUA_AUTH",
     "`USER:PASSWORD`, which clients then need (HTTP Basic). Use HTTPS beside it, as passwords are "
     "readable on the way otherwise."},
};
constexpr Term proxy_environment[] = {
    {"LISTEN_PID, LISTEN_FDS",
     "Sockets that systemd has opened for the server, see `systemd.socket`(5)."},
    certificates,
};
constexpr Term serve_files[] = {
    {"skua.toml",
     "A file for `--config` with any name. Its keys are the names of options without dashes in "
     "front, and `dir` for the folder; its values are texts, numbers, `true` for a flag, and "
     "arrays for options that may be repeated. `--print-config` writes one."},
    {"/etc/default/skua", "Options and folder of the systemd service `skua.service`."},
};
constexpr Term ws_environment[] = {no_colour, certificates};
constexpr Term bench_environment[] = {certificates};

constexpr PageText texts[] = {
    {"skua",
     "an HTTP toolkit",
     "`skua` serves folders, sends requests, talks to WebSocket servers and load-tests servers, "
     "over HTTP/1.1 and HTTP/2, with TLS or without. Each of its commands has a manual page, and "
     "explains its options with `--help`.",
     {},
     {}},
    {"serve", "serve a folder over HTTP",
     "`skua serve` serves the files of a folder, by default of the current one, to this machine "
     "only. ETags and modification times answer conditional requests, and ranges resume "
     "downloads. Folders without an index file are listed, as JSON if the client asks for it. "
     "Files whose names start with a dot are hidden, and no path or symbolic link leads out of "
     "the folder.\n\n"
     "The first line on standard output is `listening on` and the URL. Every buffer has a limit "
     "and every wait a timeout; `--print-config` prints them.\n\n"
     "On Linux, the server then gives up the rights to read other files, to write, to start "
     "programs and to connect. The line `sandbox:` says what holds; without a layer that the "
     "kernel lacks, it names it.",
     serve_environment, serve_files},
    {"proxy",
     "pass requests on to other servers",
     "`skua proxy` passes requests on to one of several servers, and its responses back. It "
     "balances them, leaves servers out that fail, and repeats a request at another server if "
     "that is safe.\n\n"
     "The first line on standard output is `listening on` and the URL. Why a request failed is "
     "printed on standard error, and is not told to the client.",
     proxy_environment,
     {}},
    {"get", "send an HTTP request",
     "These commands send a request and print the content of the response on standard output, "
     "or save it to files. All other messages go to standard error. `skua request` sends any "
     "method.",
     get_environment, get_files},
    {"curl",
     "send the request of a curl command line",
     "`skua curl` takes a command line of curl, such as browsers write with \"Copy as cURL\", and "
     "sends its request. It prints or saves the response as `skua get` does.",
     get_environment,
     {}},
    {"bench",
     "load-test a server",
     "`skua bench` sends requests over many connections, and reports requests per second, "
     "percentiles of the latency, and errors by kind. Without `--rate`, each connection sends its "
     "next request after the last response, which measures the highest throughput. With "
     "`--rate`, requests become due at fixed times, and a latency counts from when its request "
     "was due, so that a pause of the server is not underrated.",
     bench_environment,
     {}},
    {"ws",
     "connect to a WebSocket server",
     "`skua ws` sends messages to a WebSocket server and prints those that it receives.",
     ws_environment,
     {}},
};

}  // namespace

const PageText& text_of(std::string_view page) {
  const auto* const found = std::ranges::find(texts, page, &PageText::page);
  if (found == std::end(texts)) throw std::out_of_range("no text for " + std::string(page));
  return *found;
}

}  // namespace skua::cli::reference
