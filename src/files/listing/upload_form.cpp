// SPDX-License-Identifier: MIT
// The form that sends files to a listed folder. Names of files go into the page as text only.
#include "files/listing/upload_form.hpp"

namespace skua::files {

const std::string_view upload_form =
    "<form name=\"upload\" method=\"post\" action=\"./\" enctype=\"multipart/form-data\">"
    "<p><label>Upload files <input type=\"file\" name=\"file\" multiple required></label> "
    "<button name=\"send\">Upload</button></p></form>\n<div id=\"uploads\"></div>\n";

// Large files go as resumable uploads (draft-ietf-httpbis-resumable-upload), if the server has
// them: POST begins one, PATCH sends content, and after an interruption HEAD tells where to go on.
const std::string_view upload_script = R"("use strict";
const form = document.forms.upload, list = document.getElementById("uploads"), failed = [];
const smallFile = 1e6, mostFailures = 8;
const isInterrupted = (answer) => [0, 408, 423, 429, 502, 503, 504].includes(answer.status) ||
  (answer.status === 409 && answer.getResponseHeader("Upload-Complete") === "?0");
const send = async (file) => {
  const row = list.appendChild(document.createElement("p"));
  const bar = document.createElement("progress"), cancel = document.createElement("button");
  const state = document.createElement("span");
  let request, wake = () => {}, isCancelled = false, failures = 0;
  bar.max = file.size || 1;
  bar.value = 0;
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.onclick = () => { isCancelled = true; request.abort(); wake(); };
  row.append(file.name + " ", bar, " ", cancel, state);
  const ask = (method, url, fields, content, offset) => new Promise((end) => {
    request = new XMLHttpRequest();
    request.onloadend = () => end(request);
    if (content) request.upload.onprogress = (event) => { bar.value = offset + event.loaded; };
    request.open(method, url);
    for (const name in fields) request.setRequestHeader(name, fields[name]);
    state.textContent = "";
    request.send(content);
  });
  // Waits longer each time. False: do not try again.
  const pause = () => {
    failures += 1;
    if (isCancelled || failures > mostFailures) return false;
    state.textContent = " interrupted, trying again";
    return new Promise((end) => {
      wake = () => end(!isCancelled);
      setTimeout(wake, Math.min(250 * 2 ** failures, 30000));
    });
  };
  const resumable = async (place) => {
    for (let offset = 0; ;) {
      const fields = { "Content-Type": "application/partial-upload", "Upload-Offset": offset,
                       "Upload-Complete": "?1" };
      let answer = await ask("PATCH", place, fields, file.slice(offset), offset);
      if (!isInterrupted(answer)) return answer;
      while (isInterrupted(answer)) {
        if (!(await pause())) return answer;
        answer = await ask("HEAD", place);
      }
      if (answer.getResponseHeader("Upload-Complete") !== "?0") return answer;
      const kept = Number(answer.getResponseHeader("Upload-Offset"));
      if (kept > offset) failures = 0;
      bar.value = offset = kept;
    }
  };
  const url = "./" + encodeURIComponent(file.name);
  let answer = null, place = null;
  if (file.size >= smallFile) {
    const fields = { "Upload-Complete": "?0", "Upload-Length": file.size };
    do answer = await ask("POST", url, fields); while (isInterrupted(answer) && (await pause()));
    if (answer.status === 201) place = answer.getResponseHeader("Location");
  }
  if (place) {
    answer = await resumable(place);
  } else if (answer === null || [405, 415, 501, 507].includes(answer.status)) {
    answer = await ask("PUT", url, {}, file, 0);
  }
  const isDone = answer.status >= 200 && answer.status < 300;
  if (isCancelled && !isDone && place) await ask("DELETE", place);
  row.textContent = file.name + ": " + (isDone ? "uploaded" : isCancelled ? "cancelled" :
    answer.status === 0 ? "the connection failed" : answer.responseText.trim() ||
    "status " + answer.status);
  if (!isDone) failed.push(row.textContent);
  return isDone;
};
form.onsubmit = async (event) => {
  event.preventDefault();
  failed.length = 0;
  form.send.disabled = true;
  let isAnyDone = false;
  for (const file of form.file.files) if (await send(file)) isAnyDone = true;
  form.send.disabled = false;
  if (!isAnyDone) return;
  sessionStorage.uploads = JSON.stringify(failed);
  location.reload();  // to list those that were uploaded
};
// Failures stay readable on the new page.
for (const text of JSON.parse(sessionStorage.uploads || "[]")) {
  list.appendChild(document.createElement("p")).textContent = text;
}
sessionStorage.removeItem("uploads");
)";

}  // namespace skua::files
