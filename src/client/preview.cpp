// SPDX-License-Identifier: MIT
// In: a request. Out: the bytes of its first round, by the code that sends them.
#include "client/preview.hpp"

#include <utility>

#include "client/fetch.hpp"
#include "client/problem.hpp"
#include "h1/request_writer.hpp"

namespace skua::client {

Result<RequestPreview, Problem> Fetch::preview() {
  if (auto read = read_url(); !read) return std::move(read).error();
  begin_round();
  Result<RequestContent, Problem> content = make_content(spec_);
  if (!content) return could_not(step(), content.error().error, content.error().text);
  waits_for_continue_ = expects_continue_ && content->body.kind() != Body::Kind::None;
  const Result<FieldLines> lines = fields(*content);
  if (!lines) return could_not(step(), lines.error());
  OutgoingRequest request{.method = method_,
                          .other_method = other_method(),
                          .url = url_,
                          .fields = *lines,
                          .content = content->body};
  if (route_.use == ProxyUse::Forward) request.form = h1::TargetForm::Absolute;
  RequestPreview made;
  const Result<void> written = h1::append_request_head(head_of(request), url_, *lines, made.head);
  if (!written) return could_not(step(), written.error());
  made.content = std::move(content->body);
  return made;
}

struct RequestAccess {
  static Result<RequestPreview, Problem> preview(ClientRequest&& request) {
    Fetch fetch(std::move(request.core_), *request.spec_);
    return fetch.preview();
  }
};

Result<RequestPreview, Problem> preview(ClientRequest request) {
  return RequestAccess::preview(std::move(request));
}

}  // namespace skua::client
