// SPDX-License-Identifier: Apache-2.0
#include "testing/begun_write.hpp"

#include <utility>

#include <evenkeel/base/error.hpp>

#include "apiserver/shell/request_target.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

bool is_apply(const http::Request& request) {
  const std::string* const type = request.headers.find("Content-Type");
  return type != nullptr && type->starts_with("application/apply-patch");
}

}  // namespace

Json body_value(const std::string& text) {
  try {
    return text.empty() ? Json() : Json::parse(text);
  } catch (const DecodeError&) {
    return Json(text);  // YAML
  }
}

Write begun_write(const http::Request& request) {
  apiserver::RequestTarget target = apiserver::request_target(request);
  Write write{.verb = is_apply(request) ? "apply" : std::move(target.verb),
              .resource = std::move(target.resource),
              .key = {std::move(target.namespace_), std::move(target.name)},
              .sent = body_value(request.body)};
  if (!target.group.empty()) write.resource += "." + target.group;
  if (!target.subresource.empty()) write.resource += "/" + target.subresource;
  return write;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
