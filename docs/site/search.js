"use strict";
// Searches `index`, an array of [name, kind, URL] in index.js: classes, members, pages and headings.
const form = document.getElementById("search");
const field = form.querySelector("input");
const list = form.querySelector("ol");

// Lower is better, and undefined is no match: whole names, last parts of names, beginnings, then anything inside.
function rank(name, text) {
  const at = name.indexOf(text);
  if (at < 0) return undefined;
  const last = name.slice(name.lastIndexOf(":") + 1);
  return [name === text, last === text, at === 0, last.startsWith(text), true].indexOf(true);
}

function search() {
  const text = field.value.trim().toLowerCase();
  list.replaceChildren();
  if (text === "") return;
  const found = index.map(([name, kind, url]) => ({name, kind, url, rank: rank(name.toLowerCase(), text)}))
    .filter((entry) => entry.rank !== undefined)
    .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length)
    .slice(0, 40);
  for (const {name, kind, url} of found) {
    const link = document.createElement("a");
    link.href = url;
    link.append(name, Object.assign(document.createElement("small"), {textContent: kind}));
    list.appendChild(document.createElement("li")).append(link);
  }
  if (found.length === 0) list.appendChild(document.createElement("li")).textContent = "Nothing found";
}

field.addEventListener("input", search);
field.addEventListener("focus", search);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
form.addEventListener("keydown", (event) => {
  const stops = [field, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (event.key === "Escape") field.blur();
  if (event.key === "Escape") list.replaceChildren();
  if (step === undefined) return;
  event.preventDefault();
  stops[(at + step + stops.length) % stops.length].focus();
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) list.replaceChildren();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === field) return;
  event.preventDefault();
  field.focus();
});
const asked = new URLSearchParams(location.search).get("q");
if (asked !== null) {
  field.value = asked;
  search();
}
