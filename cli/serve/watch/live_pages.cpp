// SPDX-License-Identifier: MIT
// In: a response. Out: the same with a script in it, if it is a page. Pages in memory are copied;
// of a file, only the ends are read, and the kernel sends the rest as before.
#include "serve/watch/live_pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/ascii.hpp"
#include "base/file_io.hpp"
#include "files/listing/page_assets.hpp"
#include "http/message/response_parts.hpp"
#include "serve/watch/page_tag.hpp"
#include "serve/watch/reload_script.hpp"
#include "skua/accept.hpp"
#include "skua/body_writer.hpp"
#include "skua/static_text.hpp"

namespace skua::cli {
namespace {

using http::FieldName;

constexpr std::array ignored_fields = {
    FieldName::AcceptEncoding, FieldName::IfMatch, FieldName::IfModifiedSince,
    FieldName::IfNoneMatch,    FieldName::IfRange, FieldName::IfUnmodifiedSince,
    FieldName::Range};

constexpr std::string_view missing_page =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>404 Not "
    "Found</title></head><body><p>404 Not Found</p></body></html>\n";

/// The version of the site when a request arrived, before its file was read.
struct RequestVersion {
  std::uint64_t number = 0;
};

/// A page that is a file, in two parts, and the tag between them.
struct TaggedFile {
  FileRange before;
  std::string tag;
  FileRange behind;
};

// RFC 9110 §8.3.1: parameters may follow.
bool is_html(std::string_view type) noexcept {
  constexpr std::string_view html = "text/html";
  return ascii::equals_ignoring_case(type.substr(0, html.size()), html) &&
         (type.size() == html.size() || type[html.size()] == ';' || type[html.size()] == ' ');
}

// A page that is missing now may be there after the next change.
bool is_missing_page(const Request& request, const Response& response) {
  if (response.status() != Status::NotFound || is_page(response)) return false;
  const std::string_view accepted = request.header("Accept").value_or("");
  return response.content_type() == Response::plain_text &&
         accepted.find("text/html") != accepted.npos;
}

Task<> write_tagged(std::shared_ptr<const TaggedFile> page, BodyWriter& out) {
  auto before = out.write(Body(page->before));
  co_await before;
  auto tag = out.write(Body(page->tag));
  co_await tag;
  if (page->behind.size_bytes == 0) co_return;
  auto behind = out.write(Body(page->behind));
  co_await behind;
}

Task<> write_then_tag(std::shared_ptr<const BodyStream> page,
                      std::shared_ptr<const std::string> tag, BodyWriter& out) {
  auto produced = page->produce(out);
  co_await produced;
  auto written = out.write(Body(tag));
  co_await written;
}

std::string text_with_tag(std::string_view page, const std::string& tag) {
  const std::string encoded = encode_for_page(tag, page, page.size() % 2 == 0);
  const std::size_t tail_begin = page.size() - std::min(page.size(), page_tail_bytes);
  const std::size_t place = encoded.size() == tag.size()
                                ? tail_begin + place_of_tag(page.substr(tail_begin))
                                : page.size();
  std::string text;
  text.reserve(page.size() + encoded.size());
  return text.append(page.substr(0, place)).append(encoded).append(page.substr(place));
}

// Returns the page as it is if it cannot be read: sending it fails, too.
Body file_with_tag(const FileRange& page, const std::string& tag) {
  std::array<char, 2> head{};
  std::array<char, page_tail_bytes> tail;
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(page.size_bytes, tail.size());
  const std::span<char> end = std::span(tail).first(static_cast<std::size_t>(tail_bytes));
  const std::uint64_t tail_begin = page.size_bytes - tail_bytes;
  if (base::read_at(page.file, page.offset, head).value_or(0U) != head.size() ||
      base::read_at(page.file, page.offset + tail_begin, end).value_or(0U) != end.size()) {
    return Body(page);
  }
  const auto parts = std::make_shared<TaggedFile>();
  parts->tag = encode_for_page(tag, {head.data(), head.size()}, page.size_bytes % 2 == 0);
  const std::uint64_t place = parts->tag.size() == tag.size()
                                  ? tail_begin + place_of_tag({end.data(), end.size()})
                                  : page.size_bytes;
  parts->before = parts->behind = page;
  parts->before.size_bytes = place;
  parts->behind.offset += place;
  parts->behind.size_bytes -= place;
  const auto stream = std::make_shared<BodyStream>();
  stream->length_bytes = page.size_bytes + parts->tag.size();
  stream->produce = [parts](BodyWriter& out) { return write_tagged(parts, out); };
  return Body(std::shared_ptr<const BodyStream>(stream));
}

Body stream_with_tag(std::shared_ptr<const BodyStream> page, const std::string& tag) {
  const auto stream = std::make_shared<BodyStream>();
  if (const auto& length = page->length_bytes) stream->length_bytes = *length + tag.size();
  stream->produce = [page = std::move(page), tag = std::make_shared<const std::string>(tag)](
                        BodyWriter& out) { return write_then_tag(page, tag, out); };
  return Body(std::shared_ptr<const BodyStream>(stream));
}

void add_tag(Response& response, const std::string& tag) {
  const Body& content = response.content();
  Body tagged;
  if (const FileRange* const file = content.file()) {
    tagged = file_with_tag(*file, tag);
  } else if (const auto* const stream = content.stream()) {
    tagged = stream_with_tag(*stream, tag);
  } else {
    tagged = Body(text_with_tag(content.text(), tag));
  }
  response.body(std::move(tagged));
}

// The policies of listings begin alike, and name the scripts of the page by their digests.
void allow_script(Response& response) {
  constexpr std::string_view scripts = "script-src ";
  const std::string_view alike =
      files::listing_policy.substr(0, files::listing_policy.find("style"));
  std::string policy(response.header("Content-Security-Policy").value_or(""));
  if (!policy.starts_with(alike) || policy.find(scripts) == policy.npos) return;
  policy.insert(policy.find(scripts) + scripts.size(), "'self' ");
  response.header("Content-Security-Policy", policy);
}

}  // namespace

WholePageRequest::WholePageRequest(const Request& request)
    : head_(*http::RequestAccess::parts(request).head),
      parts_(http::RequestAccess::parts(request)),
      request_(parts_) {
  for (const FieldName name : ignored_fields) {
    head_.known &= ~(std::uint64_t{1} << static_cast<unsigned>(name));
  }
  parts_.head = &head_;
}

bool is_page(const Response& response) noexcept {
  return is_html(response.content_type()) && !response.header("Content-Encoding");
}

Response without_validators(Response page) {
  for (const char* const name : {"ETag", "Last-Modified", "Accept-Ranges"}) {
    page.remove_header(name);
  }
  return page;
}

std::optional<Response> LivePages::guard(Request& request) const {
  request.attachments().set(RequestVersion{hub_->version()});
  return std::nullopt;
}

void LivePages::finish(const Request& request, Response& response) const {
  if (http::ResponseAccess::is_evaluated(response)) return;
  if (is_missing_page(request, response)) {
    response.body(Body::borrowed(missing_page), Response::html_text);
  }
  if (!is_page(response)) {
    if (response.header("Cache-Control") != "no-store") {
      response.header("Cache-Control", "no-cache");
    }
    return;
  }
  const RequestVersion* const version = request.attachments().find<RequestVersion>();
  const std::uint64_t number = version != nullptr ? version->number : hub_->version();
  add_tag(response, "<script async src=\"" + std::string(reload_script_path) +
                        "?since=" + std::to_string(number) + "\"></script>");
  response.header("Cache-Control", "no-store");
  allow_script(response);
}

void add_live_reload(Router& router, const std::shared_ptr<ReloadHub>& hub) {
  router.use(LivePages(hub));
  router.get(RuntimePattern(std::string(reload_script_path)), [] {
    return Response(Status::Ok, Body::borrowed(reload_script), "text/javascript; charset=utf-8");
  });
  router.get(RuntimePattern(std::string(reload_events_path)),
             [hub](const Request& request) { return reload_events(hub, request); });
}

}  // namespace skua::cli
