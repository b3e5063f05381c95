// SPDX-License-Identifier: MIT
// In: a request. Out: its bytes, on standard output.
#include "get/offline.hpp"

#include <algorithm>
#include <array>
#include <coroutine>
#include <string>
#include <utility>

#include "base/file_io.hpp"
#include "client/preview.hpp"
#include "skua/body.hpp"
#include "skua/body_writer.hpp"
#include "skua/literals.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

class RequestPrinter final : private detail::BodySink {
 public:
  [[nodiscard]] detail::BodySink& sink() noexcept { return *this; }

  void print(std::string_view text) {
    if (!is_terminal_) return write_all(standard_output, text);
    std::string shown;
    shown_.append(text, shown);
    write_all(standard_output, shown);
  }
  void print(const FileRange& range) {
    std::array<char, 64_KiB> piece;
    std::uint64_t offset = range.offset;
    const std::uint64_t end = offset + range.size_bytes;
    while (offset < end) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), end - offset));
      const Result<std::size_t> read = base::read_at(range.file, offset, {piece.data(), size});
      if (!read) throw Exception(read.error());
      if (*read == 0) throw Exception(Error(Errc::TruncatedBody, "file"));
      print(std::string_view(piece.data(), *read));
      offset += *read;
    }
  }
  void finish() {
    if (!is_terminal_) return;
    std::string rest;
    shown_.finish(rest);
    write_all(standard_output, rest + "\n");
  }

 private:
  void write(Body&& piece) override {
    if (const FileRange* const range = piece.file()) return print(*range);
    print(piece.text());
  }
  void add_trailer(std::string_view /*name*/, std::string_view /*value*/) override {}
  [[nodiscard]] bool has_room() const noexcept override { return true; }
  void wait(detail::Waiter& /*waiter*/, std::coroutine_handle<> /*writer*/) override {}

  const bool is_terminal_ = is_terminal(standard_output);
  TerminalText shown_;
};

}  // namespace

Task<Result<void, Problem>> print_request(ClientRequest request) {
  Result<client::RequestPreview, Problem> made = client::preview(std::move(request));
  if (!made) co_return std::move(made).error();
  RequestPrinter printer;
  printer.print(made->head);
  const Body& content = made->content;
  if (const auto* const stream = content.stream()) {
    BodyWriter writer(printer.sink());
    co_await (*stream)->produce(writer);
  } else if (const FileRange* const range = content.file()) {
    printer.print(*range);
  } else {
    printer.print(content.text());
  }
  printer.finish();
  co_return {};
}

}  // namespace skua::cli
