// SPDX-License-Identifier: MIT
// The form that sends files to a listed folder. Names of files go into the page as text only.
#include "files/listing/upload_form.hpp"

namespace skua::files {

const std::string_view upload_form =
    "<form name=\"upload\" method=\"post\" action=\"./\" enctype=\"multipart/form-data\">"
    "<p><label>Upload files <input type=\"file\" name=\"file\" multiple required></label> "
    "<button name=\"send\">Upload</button></p></form>\n<div id=\"uploads\"></div>\n";

const std::string_view upload_script = R"("use strict";
const form = document.forms.upload, list = document.getElementById("uploads");
const send = (file) => new Promise((end) => {
  const row = list.appendChild(document.createElement("p"));
  const bar = document.createElement("progress"), cancel = document.createElement("button");
  const request = new XMLHttpRequest();
  const say = (text, isDone) => { row.textContent = file.name + ": " + text; end(isDone); };
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.onclick = () => request.abort();
  row.append(file.name + " ", bar, " ", cancel);
  request.upload.onprogress = (event) => { bar.max = event.total; bar.value = event.loaded; };
  request.onload = () => {
    const isDone = request.status < 300;
    say(isDone ? "uploaded" : request.responseText.trim() || "status " + request.status, isDone);
  };
  request.onerror = () => say("the connection failed", false);
  request.onabort = () => say("cancelled", false);
  request.open("PUT", "./" + encodeURIComponent(file.name));
  request.send(file);
});
form.onsubmit = async (event) => {
  event.preventDefault();
  form.send.disabled = true;
  let areAllDone = true;
  for (const file of form.file.files) if (!(await send(file))) areAllDone = false;
  form.send.disabled = false;
  if (areAllDone) location.reload();
};
)";

}  // namespace skua::files
