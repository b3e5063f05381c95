// SPDX-License-Identifier: MIT
// In: the table of options and the text of a page. Out: roff with the macros of man(7), which both
// groff and mandoc know. A help text is copied; only its line breaks and marks change.
#include <algorithm>
#include <cctype>

#include "reference/output.hpp"
#include "reference/page_text.hpp"
#include "reference/text.hpp"
#include "skua/release.hpp"

namespace skua::cli::reference {
namespace {

// Escapes what roff would interpret. A hyphen would become a typographic one, which nobody can
// type.
std::string literal(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += letter;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + literal(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + literal(text) + "\\fR"; }

std::vector<std::string> split(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(between), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + between.size());
  }
}

// Breaks roff text into lines of at most 80 bytes, and after each sentence.
std::string lines_of(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string out;
  std::size_t begin = 0;  // of the line
  for (const std::string& word : split(text, " ")) {
    const bool is_sentence_end = out.ends_with('.');
    if (!out.empty()) {
      const bool is_full = out.size() - begin + 1 + word.size() > longest;
      out += is_full || is_sentence_end ? '\n' : ' ';
      if (out.back() == '\n') begin = out.size();
    }
    // A dot at the start of a line begins a request.
    out += out.size() == begin && word.starts_with('.') ? "\\&" + word : word;
  }
  return out + "\n";
}

// Prints `backquoted` parts in bold.
std::string prose(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (const std::string& part : split(text, "`")) {
    out += is_code ? bold(part) : literal(part);
    is_code = !is_code;
  }
  return lines_of(out);
}

// Ends a help text as a sentence.
std::string sentence(const std::string& text) {
  return text.empty() || text.ends_with('.') ? text : text + ".";
}

std::string paragraphs(std::string_view text) {
  return joined(split(text, "\n\n"), ".PP\n", [](const std::string& one) { return prose(one); });
}

std::string section(const std::string& title, const std::string& content) {
  return content.empty() ? "" : ".SH " + title + "\n" + content;
}

std::string terms(std::span<const Term> list) {
  std::string out;
  for (const Term& term : list) out += ".TP\n" + bold(term.name) + "\n" + prose(term.text);
  return out;
}

// A block of --help: `Title:`, indented lines, and perhaps more sentences; or sentences only.
struct Block {
  std::string title;
  std::vector<std::string> lines;  ///< indented ones, without the indentation
  std::string rest;
};

Block block_of(const std::string& text) {
  Block block;
  for (const std::string& line : split(text, "\n")) {
    if (block.title.empty() && block.rest.empty() && line.ends_with(':')) {
      block.title = line.substr(0, line.size() - 1);
    } else if (line.starts_with("  ")) {
      block.lines.push_back(line.substr(2));
    } else {
      block.rest += (block.rest.empty() ? "" : " ") + line;
    }
  }
  return block;
}

// `term    text`
std::string item(const std::string& line) {
  const std::size_t gap = line.find("  ");
  const std::size_t text = line.find_first_not_of(' ', gap);
  return ".TP\n" + bold(line.substr(0, gap)) + "\n" + prose(line.substr(text));
}

// The blocks of --help, which go to different sections of a page.
struct Footer {
  std::string description;
  std::string items;
  std::string exit_status;
  std::string examples;
};

Footer footer_of(const std::string& text) {
  constexpr std::string_view codes = "Exit codes: ";
  Footer footer;
  for (const std::string& one : split(text, "\n\n")) {
    const Block block = block_of(one);
    if (block.title == "Examples") {
      for (const std::string& line : block.lines) footer.examples += literal(line) + "\n";
      footer.examples = ".EX\n" + footer.examples + ".EE\n";
    } else if (!block.title.empty()) {
      for (const std::string& line : block.lines) footer.items += item(line);
      if (!block.rest.empty()) footer.items += ".PP\n" + prose(block.rest);
    } else if (block.rest.starts_with(codes)) {
      footer.exit_status = prose("The exit status is " + block.rest.substr(codes.size()));
    } else {
      footer.description += ".PP\n" + prose(block.rest);
    }
  }
  return footer;
}

std::string parameter(const Parameter& one, bool is_operand) {
  std::string head = joined(one.names, ", ", is_operand ? italic : bold);
  if (is_operand && one.repeats) head += " ...";
  if (!is_operand && !one.label.empty()) head += " " + italic(one.label);
  std::string text = sentence(one.text);
  if (!one.fallback.empty()) text += " Default: `" + one.fallback + "`";
  return ".TP\n" + head + "\n" + prose(text);
}

std::string options(const std::vector<Parameter>& list) {
  std::vector<std::string> groups;
  for (const Parameter& one : list) {
    if (std::ranges::find(groups, one.group) == groups.end()) groups.push_back(one.group);
  }
  std::string out;
  for (const std::string& group : groups) {
    if (groups.size() > 1) out += ".SS " + literal(group) + "\n";
    for (const Parameter& one : list) {
      if (one.group == group) out += parameter(one, false);
    }
  }
  return out;
}

// The operands of all commands of a family, each once.
std::string operands(const Family& family) {
  std::vector<Parameter> seen;
  for (const Command& command : family.commands) {
    for (const Parameter& one : command.operands) {
      if (std::ranges::find(seen, one) == seen.end()) seen.push_back(one);
    }
  }
  std::string out;
  for (const Parameter& one : seen) out += parameter(one, true);
  return out;
}

std::string synopsis(const Command& command) {
  std::string out = bold("skua " + command.name) + " [" + italic("OPTIONS") + "]";
  for (const Parameter& one : command.operands) {
    const std::string name = italic(one.names.front()) + (one.repeats ? " ..." : "");
    out += one.required ? " " + name : " [" + name + "]";
  }
  return out + "\n";
}

std::string page_of(const Family& family) { return "skua-" + family.commands.front().name; }

std::string title(std::string name, std::string_view date) {
  for (char& letter : name) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return ".\\\" Generated from the options of the command.\n.TH " + literal(name) + " 1 \"" +
         std::string(date) + "\" \"skua " SKUA_VERSION_TEXT "\" \"User Commands\"\n";
}

std::string see_also(const Table& table, std::string_view own) {
  std::vector<std::string> pages{"skua"};
  for (const Family& family : table.families) pages.push_back(page_of(family));
  std::erase(pages, own);
  return section("SEE ALSO", joined(pages, ",\n", [](const std::string& page) {
                               return bold(page) + "(1)";
                             }) + "\n");
}

}  // namespace

std::string overview_page(const Table& table, std::string_view date) {
  const PageText& text = text_of("skua");
  std::string commands;
  for (const Family& family : table.families) {
    for (const Command& command : family.commands) {
      commands += ".TP\n" + bold(command.name) + "\n" +
                  prose(sentence(command.text) + " See `" + page_of(family) + "`(1).");
    }
  }
  return title("skua", date) + section("NAME", "skua \\- " + literal(text.summary) + "\n") +
         section("SYNOPSIS", bold("skua") + " " + italic("COMMAND") + " [" + italic("ARGUMENTS") +
                                 "]\n.br\n" + bold("skua") + " [" + italic("OPTIONS") + "]\n") +
         section("DESCRIPTION", paragraphs(text.description)) + section("COMMANDS", commands) +
         section("OPTIONS", options(table.options)) +
         section("EXIT STATUS", prose("Every command exits with 0 on success, with 2 if the "
                                      "command line is wrong, and with another number listed "
                                      "in its page on failure.")) +
         see_also(table, "skua");
}

std::string family_page(const Table& table, const Family& family, std::string_view date) {
  const std::string name = page_of(family);
  const PageText& text = text_of(family.commands.front().name);
  const Footer footer = footer_of(family.footer);
  const std::string names =
      joined(family.commands, ", ", [](const Command& one) { return literal("skua-" + one.name); });
  return title(name, date) + section("NAME", lines_of(names + " \\- " + literal(text.summary))) +
         section("SYNOPSIS", joined(family.commands, ".br\n", synopsis)) +
         section("DESCRIPTION", paragraphs(text.description) + footer.description) +
         section("OPERANDS", operands(family)) + section("ITEMS", footer.items) +
         section("OPTIONS", options(family.options)) + section("EXIT STATUS", footer.exit_status) +
         section("ENVIRONMENT", terms(text.environment)) + section("FILES", terms(text.files)) +
         section("EXAMPLES", footer.examples) + see_also(table, name);
}

}  // namespace skua::cli::reference
