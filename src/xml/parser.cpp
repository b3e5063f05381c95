// SPDX-License-Identifier: MIT
// In: a document. Out: its tree. Expat checks it and resolves namespaces; a document type ends the
// parse before any declaration in it is read, so entities cannot be declared. No other file
// includes expat.
#include "xml/xml.hpp"

#if defined(SKUA_HAS_EXPAT)

#include <expat.h>

#include <memory>
#include <new>
#include <utility>

namespace skua::xml {
namespace {

// Between a namespace and a name; a form feed can be in neither.
constexpr char separator = '\f';

Name split_name(std::string_view text) {
  const std::size_t end = text.rfind(separator);
  if (end == text.npos) return {.local = std::string(text)};
  return {.space = std::string(text.substr(0, end)), .local = std::string(text.substr(end + 1))};
}

/// Makes a tree of what expat reports.
class TreeBuilder {
 public:
  TreeBuilder(XML_Parser parser, const ParseLimits& limits) noexcept
      : parser_(parser), limits_(limits) {}

  void begin(const char* name, const char** attributes) {
    if (open_.size() >= limits_.depth || !count()) return stop(Errc::MalformedText);
    Node node{.name = split_name(name)};
    for (; *attributes != nullptr; attributes += 2) {
      if (!count()) return stop(Errc::MalformedText);
      node.attributes.push_back({split_name(attributes[0]), attributes[1]});
    }
    open_.push_back(std::move(node));
  }

  void end() {
    if (open_.empty()) return;
    Node node = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      open_.back().children.push_back(std::move(node));
    }
  }

  void add_text(std::string_view text) {
    if (open_.empty()) return;
    std::vector<Node>& siblings = open_.back().children;
    if (siblings.empty() || !siblings.back().is_text()) {
      if (!count()) return stop(Errc::MalformedText);
      siblings.emplace_back();
    }
    siblings.back().text.append(text);
  }

  void stop(Errc why) noexcept {
    error_ = why;
    XML_StopParser(parser_, XML_FALSE);
  }

  [[nodiscard]] Errc error() const noexcept { return error_; }
  [[nodiscard]] Node take() noexcept { return std::move(root_); }

 private:
  bool count() noexcept { return ++nodes_ <= limits_.nodes; }

  XML_Parser parser_;
  ParseLimits limits_;
  std::size_t nodes_ = 0;
  std::vector<Node> open_;
  Node root_;
  Errc error_ = Errc::None;
};

// Exceptions must not pass through expat, which is written in C.
template <class F>
void guard(void* builder, F&& call) noexcept {
  auto& tree = *static_cast<TreeBuilder*>(builder);
  if (tree.error() != Errc::None) return;
  try {
    call(tree);
  } catch (...) {
    tree.stop(Errc::OutOfMemory);
  }
}

void XMLCALL on_begin(void* builder, const char* name, const char** attributes) {
  guard(builder, [&](TreeBuilder& tree) { tree.begin(name, attributes); });
}

void XMLCALL on_end(void* builder, const char*) {
  guard(builder, [](TreeBuilder& tree) { tree.end(); });
}

void XMLCALL on_text(void* builder, const char* text, int size_bytes) {
  guard(builder, [&](TreeBuilder& tree) {
    tree.add_text(std::string_view(text, static_cast<std::size_t>(size_bytes)));
  });
}

void XMLCALL on_document_type(void* builder, const char*, const char*, const char*, int) {
  guard(builder, [](TreeBuilder& tree) { tree.stop(Errc::MalformedText); });
}

struct Free {
  void operator()(XML_Parser parser) const noexcept { XML_ParserFree(parser); }
};

}  // namespace

bool is_available() noexcept { return true; }

Result<Node> parse(std::string_view document, const ParseLimits& limits) {
  constexpr std::size_t max_bytes = std::size_t{1} << 24U;
  if (document.size() > max_bytes) return Error(Errc::MalformedText, "XML");
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, Free> parser(
      XML_ParserCreateNS(nullptr, separator));
  if (!parser) return Error(Errc::OutOfMemory, "XML");
  TreeBuilder builder(parser.get(), limits);
  XML_SetUserData(parser.get(), &builder);
  XML_SetElementHandler(parser.get(), on_begin, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), on_document_type);
  const XML_Status status =
      XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), XML_TRUE);
  if (builder.error() != Errc::None) return Error(builder.error(), "XML");
  if (status != XML_STATUS_OK) {
    const bool is_memory = XML_GetErrorCode(parser.get()) == XML_ERROR_NO_MEMORY;
    return Error(is_memory ? Errc::OutOfMemory : Errc::MalformedText, "XML");
  }
  return builder.take();
}

}  // namespace skua::xml

#else

namespace skua::xml {

bool is_available() noexcept { return false; }

Result<Node> parse(std::string_view, const ParseLimits&) { return Error(Errc::Unsupported, "XML"); }

}  // namespace skua::xml

#endif
