// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace skua {

/// Options of a served folder; the defaults are safe for the open Internet.
struct FileOptions {
  std::string index = "index.html";  ///< served for a path that ends in `/`; empty: none
  /// How long clients may use a response without revalidation (Cache-Control). Zero: they
  /// revalidate each time and mostly get 304. Negative: no Cache-Control.
  std::chrono::seconds max_age{0};
  /// Sends `app.js.br`, `app.js.zst` or `app.js.gz` instead of `app.js` to clients that accept it
  /// (Accept-Encoding), unless it is older than `app.js`.
  bool precompressed = false;
  /// Compresses text with brotli, zstd or gzip for clients that accept it: files up to 64 KiB once,
  /// kept in memory, larger ones while they are sent, without ranges.
  bool compress = false;
  /// How long a small file is served from memory without looking for a newer version. Zero: each
  /// request looks.
  std::chrono::milliseconds check_interval{1000};
  /// Makes ETags of what files contain (SHA-256), instead of their times, sizes and inodes: they
  /// are the same on each machine that serves the files, and stay if a deployment writes the same
  /// content again. Needs OpenSSL.
  ///
  /// A file up to 64 KiB is hashed when it is read into memory. Another thread hashes larger ones,
  /// when they are first asked for, at a few hundred MB/s or more; until then, and while a file is
  /// younger than two seconds, its responses have a Last-Modified only. Not for a folder with an
  /// UploadHandler, whose ETags are those of states.
  bool content_etags = false;
  bool listing = false;         ///< lists a folder without an index; otherwise 404
  bool dotfiles = false;        ///< serves names with a leading dot, not only `/.well-known/`
  bool follow_symlinks = true;  ///< only those that stay inside the folder
  /// The folder whose listing, and those of the folders below it, have a form that sends files to
  /// its URL, for an UploadHandler: `/` for all, or such as `/inbox/`. Empty: none.
  std::string upload_form{};
  /// How many archives of folders clients may download at a time (`/folder/?archive=zip`, `tar` or
  /// `tar.gz`); more are answered with 503. An archive has all that can be requested below its
  /// folder, also if that is not listed. Zero: none.
  std::size_t archives = 0;
  /// The media type of all files, whatever their names: for Router::file. Empty: by the name.
  std::string type{};
  /// Called with a line for the log when another folder has got the name and is served from now on,
  /// or when the folder is gone: requests then get 503. On the thread of a request, also on several
  /// at once. What it throws is dropped.
  std::function<void(std::string_view line)> on_replaced{};
  /// Returns the README of a listed folder as HTML, which the listing shows as it is: this function
  /// has to escape it. `name` is that of the file, such as `README.md` or `readme.txt`, and `text`
  /// its content of up to 256 KiB. Several threads may call it at once. Empty: none is shown.
  std::function<std::string(std::string_view name, std::string_view text)> render_readme{};
};

}  // namespace skua
