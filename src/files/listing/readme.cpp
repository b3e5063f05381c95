// SPDX-License-Identifier: MIT
// In: a folder's entries. Out: the text that describes the folder, and how a listing shows it. The
// policy of the page stays: what is rendered can neither run nor load anything from elsewhere.
#include "files/listing/readme.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.hpp"
#include "base/file_io.hpp"
#include "files/listing/page_assets.hpp"

namespace skua::files {
namespace {

constexpr std::array<std::string_view, 4> readme_names = {"readme.md", "readme.markdown",
                                                          "readme.txt", "readme"};

}  // namespace

std::string_view find_readme(std::span<const DirectoryEntry> entries) noexcept {
  std::size_t best = readme_names.size();
  std::string_view found;
  for (const DirectoryEntry& entry : entries) {
    if (entry.is_directory) continue;
    for (std::size_t i = 0; i < best; ++i) {
      if (!ascii::equals_ignoring_case(entry.name, readme_names[i])) continue;
      best = i;
      found = entry.name;
    }
  }
  return found;
}

std::optional<OpenFile> open_readme(const DirectoryReader& folder,
                                    std::span<const DirectoryEntry> entries, std::string& name) {
  name = find_readme(entries);
  if (name.empty()) return std::nullopt;
  Result<OpenFile> file = folder.find(name);
  if (!file || file->stat.kind != FileKind::Regular) return std::nullopt;
  if (file->stat.size_bytes == 0 || file->stat.size_bytes > readme_at_most_bytes) {
    return std::nullopt;
  }
  return *std::move(file);
}

std::optional<std::string> read_readme(const OpenFile& file) {
  std::string text(static_cast<std::size_t>(file.stat.size_bytes), '\0');
  const Result<std::size_t> count = base::read_at(file.descriptor.number(), 0, text);
  if (!count || text.find('\0') != text.npos) return std::nullopt;
  return text;
}

const std::string_view readme_style = R"text(
.readme{margin-top:2rem;padding:.2rem 1.2rem;border:1px solid var(--line);border-radius:.4rem;overflow-wrap:anywhere}
.readme p,.readme td+td{color:inherit}
.readme p a{margin-right:0}
.readme img{max-width:100%}
.readme pre{overflow:auto;padding:.8rem;background:#8881;border-radius:.4rem}
.readme code{font-size:.9em}
.readme blockquote{margin-left:0;padding-left:1rem;border-left:.2rem solid var(--line);color:var(--quiet)}
.readme table{display:block;overflow:auto;margin:1rem 0}
.readme tr{display:table-row}
.readme th,.readme td,.readme td+td,.readme th+th{width:auto;padding:.3rem .6rem;border:1px solid var(--line);text-align:left;white-space:normal;font-size:1rem}
)text";

const std::string_view readme_style_source =
    "'sha256-CX0g+4j9M3cB4vstikyvfMEcgh2nf2GGgLb4vWq3s+s='";

std::string readme_policy() {
  std::string policy(listing_policy);
  constexpr std::string_view styles = "style-src ";
  return policy.insert(policy.find(styles) + styles.size(), std::string(readme_style_source) + " ");
}

}  // namespace skua::files
