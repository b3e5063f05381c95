// SPDX-License-Identifier: MIT
// Browsers open at most six connections to a site over HTTP/1.1, so a hidden page has no stream. It
// catches up when it is shown.
#include "serve/watch/reload_script.hpp"

namespace skua::cli {

const std::string_view reload_script = R"text("use strict";
(() => {
  const script = new URL(document.currentScript.src);
  const replaced = new WeakSet();
  let version = script.searchParams.get("since");
  let events = null;
  let timer = 0;

  const isSwapped = (link) =>
    !link.disabled && !replaced.has(link) && new URL(link.href).origin === location.origin;
  const hasImports = ({ sheet }) =>
    sheet !== null && [...sheet.cssRules].some((rule) => rule instanceof CSSImportRule);

  const swapStyles = () => {
    const links = [...document.querySelectorAll("link[rel~=stylesheet i][href]")].filter(isSwapped);
    const isAll = links.length > 0 && ![...document.querySelectorAll("style")].some(hasImports);
    if (!isAll) return location.reload();
    for (const link of links) {
      const url = new URL(link.href);
      url.searchParams.set("skua-version", version);
      const next = link.cloneNode();
      next.href = url.href;
      next.removeAttribute("integrity");
      next.onload = next.onerror = () => link.remove();
      replaced.add(link);
      link.after(next);
    }
  };

  const close = () => {
    clearTimeout(timer);
    if (events !== null) events.close();
    events = null;
  };
  const open = () => {
    close();
    if (document.hidden) return;
    events = new EventSource(new URL("reload?since=" + version, script));
    const on = (type, act) => events.addEventListener(type, (event) => {
      version = event.lastEventId;
      act();
    });
    on("reload", () => location.reload());
    on("styles", swapStyles);
    // The browser connects again, unless the answer was an error.
    events.onerror = () => {
      if (events !== null && events.readyState === EventSource.CLOSED) timer = setTimeout(open, 3000);
    };
  };

  document.addEventListener("visibilitychange", open);
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => event.persisted && open());
  open();
})();
)text";

}  // namespace skua::cli
