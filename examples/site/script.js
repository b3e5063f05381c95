"use strict";

// Requests this page again and shows the fields of the response.
async function showFacts() {
  const table = document.getElementById("facts");
  const response = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
  const wanted = ["server", "date", "content-type", "content-length", "last-modified", "etag"];
  const rows = [["status", `${response.status} ${response.statusText}`]];
  for (const name of wanted) {
    if (response.headers.has(name)) rows.push([name, response.headers.get(name)]);
  }
  const [page] = performance.getEntriesByType("navigation");
  if (page) rows.push(["answered in", `${(page.responseEnd - page.requestStart).toFixed(1)} ms`]);

  table.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    for (const text of cells) row.insertCell().textContent = text;
    return row;
  }));
}

showFacts().catch(() => {
  document.getElementById("facts").textContent = "The server did not answer.";
});
