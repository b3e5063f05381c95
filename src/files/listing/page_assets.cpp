// SPDX-License-Identifier: MIT
// The style sheet and the script of a listing. A change of either needs its new digest in the
// policy; the test prints it.
#include "files/listing/page_assets.hpp"

namespace skua::files {

const std::string_view listing_style = R"text(
:root{color-scheme:light dark;--link:#0b6e85;--quiet:#5d6b72;--line:#8883}
@media(prefers-color-scheme:dark){:root{--link:#5cc6df;--quiet:#93a7b1}}
body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;font-weight:600;overflow-wrap:anywhere}
a{color:var(--link);text-decoration:none}
a:hover,a:focus,button:hover{text-decoration:underline}
p{color:var(--quiet)}
p a{margin-right:1rem}
[role=search]{display:flex;flex-wrap:wrap;gap:.6rem;align-items:baseline}
[role=search] button,p button,::file-selector-button{font:inherit;color:inherit;background:#8881;border:1px solid var(--line);border-radius:.4rem;padding:.25rem .8rem}
[type=file]{font:inherit;max-width:100%}
:disabled{opacity:.5}
[type=search]{font:inherit;flex:1 1 12rem;padding:.25rem .6rem;border:1px solid var(--line);border-radius:.4rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line)}
td:first-child{width:100%;overflow-wrap:anywhere}
td+td,th+th{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td+td{color:var(--quiet);font-size:.9rem}
tr:hover td{background:#8881}
td a[href$="/"]{font-weight:600}
th button{font:600 .85rem system-ui,sans-serif;color:var(--quiet);background:none;border:0;padding:.2rem 0;cursor:pointer}
.gallery{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:1rem;padding:0;list-style:none}
.gallery img,.gallery video{width:100%;height:9rem;object-fit:contain;background:#8881}
.gallery audio{width:100%}
.gallery a{display:block;overflow-wrap:anywhere;font-size:.9rem}
@media(max-width:40rem){
body{margin:1rem auto}
tr{display:flex;flex-wrap:wrap;column-gap:1rem;padding:.4rem 0;border-bottom:1px solid var(--line)}
th,td{padding:0;border:0}
tr:hover td{background:none}
td+td,th+th{text-align:left}
td+td{font-size:.8rem}
td:empty{display:none}
}
[hidden]{display:none!important}
)text";

const std::string_view listing_script = R"text("use strict";
{
  const search = document.querySelector("[type=search]");
  const rows = [...document.querySelectorAll("form tbody tr")];
  const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const { cells } of rows) {
    const utc = cells[1].textContent;
    if (!utc) continue;
    cells[1].title = utc + " UTC";
    cells[1].textContent = time.format(new Date(utc.replace(" ", "T") + "Z"));
  }
  const title = document.querySelector("button[value$=time]");
  title.textContent = title.textContent.replace(" (UTC)", "");

  // Other pages, or other names than those that the page was asked for, are the server's to find.
  const isWhole = search.defaultValue === "" && !document.querySelector("[rel=next],[rel=prev]");
  const items = [...rows, ...document.querySelectorAll(".gallery li")];
  const status = document.querySelector("[role=status]");
  if (isWhole) {
    search.oninput = () => {
      const wanted = search.value.toLowerCase();
      let shown = 0;
      for (const item of items) {
        const link = item.querySelector("a");
        const isParent = link.getAttribute("href") === "../";
        item.hidden = !isParent && !link.textContent.toLowerCase().includes(wanted);
        if (!isParent && !item.hidden) shown += 1;
      }
      status.textContent = wanted === "" ? "" : shown === 1 ? "1 match" : shown + " matches";
    };
  }

  document.onkeydown = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isTyping = event.target.matches("input:not([type=file])");
    if (event.key === "/" && !isTyping) {
      search.select();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const links = items.filter((item) => !item.hidden).map((item) => item.querySelector("a"));
      const step = event.key === "ArrowDown" ? 1 : -1;
      const now = links.indexOf(document.activeElement);
      const isEntering = step === 1 && document.activeElement === search;
      if (now === -1 && !isEntering) return;  // the keys scroll
      if (!(now + step in links)) return;
      links[now + step].focus();
    } else {
      return;
    }
    event.preventDefault();
  };
}
)text";

const std::string_view listing_policy =
    "default-src 'none'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri "
    "'none'; "
    "form-action 'self'; frame-ancestors 'self'; "
    "style-src 'sha256-ki2PPQioaGskHeofTuvlz1Lb8nTURZEPv2eEYXajmo8='; "
    "script-src 'sha256-6BIethUSVe6CZ1aJIW73DmyRgmRrpYEaW4WnJQWr9q4=' "
    "'sha256-6ih9a8n9XGbBY3J9jDflQPPYkmE7UWYZPKsge4DTm5w='";

}  // namespace skua::files
