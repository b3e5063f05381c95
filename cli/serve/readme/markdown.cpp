// SPDX-License-Identifier: MIT
// A thin wrapper of md4c, the only file that includes it. In: its callbacks. Out: HTML, of which
// every tag is written here, and every text and URL goes through safe_html.hpp. Raw HTML is shown
// as text.
#include "serve/readme/readme.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "serve/readme/safe_html.hpp"

#if defined(SKUA_HAS_MARKDOWN)
#include <md4c.h>
#endif

namespace skua::cli {

#if defined(SKUA_HAS_MARKDOWN)

namespace {

// Short texts may become long tables.
constexpr std::size_t largest_html_bytes = 4 * 1024 * 1024;

class MarkdownWriter {
 public:
  void enter(MD_BLOCKTYPE block, const void* detail);
  void leave(MD_BLOCKTYPE block);
  void enter(MD_SPANTYPE span, const void* detail);
  void leave(MD_SPANTYPE span);
  void write(MD_TEXTTYPE kind, std::string_view text);

  [[nodiscard]] bool is_too_large() const noexcept { return out_.size() > largest_html_bytes; }
  [[nodiscard]] std::string take() noexcept { return std::move(out_); }

 private:
  void begin_item(const MD_BLOCK_LI_DETAIL& item);
  void begin_list(const MD_BLOCK_OL_DETAIL& list);

  void end_heading();
  void begin_link(const MD_SPAN_A_DETAIL& link);
  void begin_image(const MD_SPAN_IMG_DETAIL& image);
  void end_image();
  void add_title(const MD_ATTRIBUTE& title);
  static std::string decoded(const MD_ATTRIBUTE& attribute);

  std::string out_;
  std::string heading_;            // its text
  std::size_t heading_begin_ = 0;  // the place for its id
  unsigned heading_level_ = 0;     // 0: outside of a heading
  std::map<std::string, unsigned> fragments_;
  unsigned image_depth_ = 0;  // images may be within the text of others
  bool is_image_shown_ = false;
  bool is_link_shown_ = false;
};

std::string_view text_of_attribute(const MD_ATTRIBUTE& attribute, std::size_t nth) {
  const MD_OFFSET begin = attribute.substr_offsets[nth];
  return {attribute.text + begin, attribute.substr_offsets[nth + 1] - begin};
}

// The offset behind the last part is the size.
std::string MarkdownWriter::decoded(const MD_ATTRIBUTE& attribute) {
  std::string text;
  for (std::size_t i = 0; attribute.text != nullptr && attribute.substr_offsets[i] < attribute.size;
       ++i) {
    const std::string_view part = text_of_attribute(attribute, i);
    switch (attribute.substr_types[i]) {
      case MD_TEXT_ENTITY: append_decoded(text, part); break;
      case MD_TEXT_NULLCHAR: text += "\uFFFD"; break;
      default: text += part; break;
    }
  }
  return text;
}

void MarkdownWriter::enter(MD_BLOCKTYPE block, const void* detail) {
  switch (block) {
    case MD_BLOCK_QUOTE: out_ += "<blockquote>\n"; break;
    case MD_BLOCK_UL: out_ += "<ul>\n"; break;
    case MD_BLOCK_OL: begin_list(*static_cast<const MD_BLOCK_OL_DETAIL*>(detail)); break;
    case MD_BLOCK_LI: begin_item(*static_cast<const MD_BLOCK_LI_DETAIL*>(detail)); break;
    case MD_BLOCK_HR: out_ += "<hr>\n"; break;
    case MD_BLOCK_H:
      heading_level_ = static_cast<const MD_BLOCK_H_DETAIL*>(detail)->level;
      heading_.clear();
      out_.append("<h").append(std::to_string(heading_level_));
      heading_begin_ = out_.size();
      out_ += '>';
      break;
    case MD_BLOCK_CODE: out_ += "<pre><code>"; break;
    case MD_BLOCK_P: out_ += "<p>"; break;
    case MD_BLOCK_TABLE: out_ += "<table>\n"; break;
    case MD_BLOCK_THEAD: out_ += "<thead>\n"; break;
    case MD_BLOCK_TBODY: out_ += "<tbody>\n"; break;
    case MD_BLOCK_TR: out_ += "<tr>"; break;
    case MD_BLOCK_TH: out_ += "<th>"; break;
    case MD_BLOCK_TD: out_ += "<td>"; break;
    case MD_BLOCK_DOC:
    case MD_BLOCK_HTML: break;
  }
}

void MarkdownWriter::leave(MD_BLOCKTYPE block) {
  switch (block) {
    case MD_BLOCK_QUOTE: out_ += "</blockquote>\n"; break;
    case MD_BLOCK_UL: out_ += "</ul>\n"; break;
    case MD_BLOCK_OL: out_ += "</ol>\n"; break;
    case MD_BLOCK_LI: out_ += "</li>\n"; break;
    case MD_BLOCK_H: end_heading(); break;
    case MD_BLOCK_CODE: out_ += "</code></pre>\n"; break;
    case MD_BLOCK_P: out_ += "</p>\n"; break;
    case MD_BLOCK_TABLE: out_ += "</table>\n"; break;
    case MD_BLOCK_THEAD: out_ += "</thead>\n"; break;
    case MD_BLOCK_TBODY: out_ += "</tbody>\n"; break;
    case MD_BLOCK_TR: out_ += "</tr>\n"; break;
    case MD_BLOCK_TH: out_ += "</th>"; break;
    case MD_BLOCK_TD: out_ += "</td>"; break;
    case MD_BLOCK_DOC:
    case MD_BLOCK_HR:
    case MD_BLOCK_HTML: break;
  }
}

void MarkdownWriter::begin_list(const MD_BLOCK_OL_DETAIL& list) {
  out_ += list.start == 1 ? "<ol>\n" : "<ol start=\"" + std::to_string(list.start) + "\">\n";
}

void MarkdownWriter::begin_item(const MD_BLOCK_LI_DETAIL& item) {
  out_ += "<li>";
  if (item.is_task == 0) return;
  out_ += item.task_mark == ' ' ? "\u2610 " : "\u2611 ";
}

// Links of the text lead to its headings, as on GitHub.
void MarkdownWriter::end_heading() {
  std::string fragment = fragment_of(heading_);
  if (!fragment.empty()) {
    const unsigned before = fragments_[fragment]++;
    if (before != 0) fragment += "-" + std::to_string(before);
    std::string id = " id=\"";
    append_escaped_text(id, fragment);
    out_.insert(heading_begin_, id.append("\""));
  }
  out_.append("</h").append(std::to_string(heading_level_)).append(">\n");
  heading_level_ = 0;
}

void MarkdownWriter::enter(MD_SPANTYPE span, const void* detail) {
  if (span == MD_SPAN_IMG) return begin_image(*static_cast<const MD_SPAN_IMG_DETAIL*>(detail));
  if (image_depth_ != 0 && is_image_shown_) return;  // in an attribute
  switch (span) {
    case MD_SPAN_A: begin_link(*static_cast<const MD_SPAN_A_DETAIL*>(detail)); break;
    case MD_SPAN_EM: out_ += "<em>"; break;
    case MD_SPAN_STRONG: out_ += "<strong>"; break;
    case MD_SPAN_CODE: out_ += "<code>"; break;
    case MD_SPAN_DEL: out_ += "<del>"; break;
    default: break;
  }
}

void MarkdownWriter::leave(MD_SPANTYPE span) {
  if (span == MD_SPAN_IMG) return end_image();
  if (image_depth_ != 0 && is_image_shown_) return;
  switch (span) {
    case MD_SPAN_A:
      if (std::exchange(is_link_shown_, false)) out_ += "</a>";
      break;
    case MD_SPAN_EM: out_ += "</em>"; break;
    case MD_SPAN_STRONG: out_ += "</strong>"; break;
    case MD_SPAN_CODE: out_ += "</code>"; break;
    case MD_SPAN_DEL: out_ += "</del>"; break;
    default: break;
  }
}

void MarkdownWriter::add_title(const MD_ATTRIBUTE& title) {
  const std::string text = decoded(title);
  if (text.empty()) return;
  out_ += " title=\"";
  append_escaped_text(out_, text);
  out_ += '"';
}

void MarkdownWriter::begin_link(const MD_SPAN_A_DETAIL& link) {
  Reference leads{};
  const auto url = safe_url(decoded(link.href), leads);
  is_link_shown_ = url.has_value();
  if (!url) return;
  out_.append("<a href=\"").append(*url).append("\"");
  if (leads == Reference::Elsewhere) out_ += " rel=\"nofollow noopener noreferrer\"";
  add_title(link.title);
  out_ += '>';
}

// The policy of the page lets no image of another site load; its text is shown instead.
void MarkdownWriter::begin_image(const MD_SPAN_IMG_DETAIL& image) {
  if (image_depth_++ != 0) return;
  Reference leads{};
  const auto url = safe_url(decoded(image.src), leads);
  is_image_shown_ = url && leads == Reference::Here;
  if (!is_image_shown_) return;
  out_.append("<img loading=\"lazy\" src=\"").append(*url).append("\"");
  add_title(image.title);
  out_ += " alt=\"";
}

void MarkdownWriter::end_image() {
  if (--image_depth_ == 0 && is_image_shown_) out_ += "\">";
}

void MarkdownWriter::write(MD_TEXTTYPE kind, std::string_view text) {
  if (heading_level_ != 0) heading_ += kind == MD_TEXT_SOFTBR ? " " : text;
  const bool is_in_attribute = image_depth_ != 0 && is_image_shown_;
  switch (kind) {
    case MD_TEXT_NULLCHAR: out_ += "\uFFFD"; break;
    case MD_TEXT_BR: out_ += is_in_attribute ? "\n" : "<br>\n"; break;
    case MD_TEXT_SOFTBR: out_ += '\n'; break;
    case MD_TEXT_ENTITY: out_ += text; break;  // the parser has checked its form
    default: append_escaped_text(out_, text); break;
  }
}

// Calls a function of the writer from C. Returns -1, which ends the parser, if the text is too
// large or there is no memory.
template <class Call>
int guarded(void* writer, const Call& call) noexcept {
  try {
    auto& to = *static_cast<MarkdownWriter*>(writer);
    call(to);
    return to.is_too_large() ? -1 : 0;
  } catch (...) {
    return -1;
  }
}

}  // namespace

bool has_markdown() noexcept { return true; }

std::optional<std::string> markdown_html(std::string_view text) {
  MD_PARSER parser{};
  parser.flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML;
  parser.enter_block = [](MD_BLOCKTYPE block, void* detail, void* writer) {
    return guarded(writer, [&](MarkdownWriter& to) { to.enter(block, detail); });
  };
  parser.leave_block = [](MD_BLOCKTYPE block, void*, void* writer) {
    return guarded(writer, [&](MarkdownWriter& to) { to.leave(block); });
  };
  parser.enter_span = [](MD_SPANTYPE span, void* detail, void* writer) {
    return guarded(writer, [&](MarkdownWriter& to) { to.enter(span, detail); });
  };
  parser.leave_span = [](MD_SPANTYPE span, void*, void* writer) {
    return guarded(writer, [&](MarkdownWriter& to) { to.leave(span); });
  };
  parser.text = [](MD_TEXTTYPE kind, const MD_CHAR* piece, MD_SIZE size, void* writer) {
    return guarded(writer, [&](MarkdownWriter& to) { to.write(kind, {piece, size}); });
  };
  MarkdownWriter writer;
  const auto size = static_cast<MD_SIZE>(text.size());
  if (md_parse(text.data(), size, &parser, &writer) != 0) return std::nullopt;
  return writer.take();
}

#else

bool has_markdown() noexcept { return false; }

std::optional<std::string> markdown_html(std::string_view) { return std::nullopt; }

#endif

}  // namespace skua::cli
