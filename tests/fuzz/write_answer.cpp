// SPDX-License-Identifier: Apache-2.0
// Answers of writes as caches read them, compared with the same texts parsed as JSON.
#include "cache/write_answer.hpp"

#include <string>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

/// Returns null for a text that is not JSON.
Json parsed_or_null(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const DecodeError&) {
    return {};
  }
}

void compare(const WriteEffect& effect, const Json& answer) {
  if (answer.is_null()) return;
  const bool is_status = answer["kind"].string_or("") == "Status";
  const std::string uid =
      is_status ? answer.at({"details", "uid"}).string_or("") : answer.at({"metadata", "uid"}).string_or("");
  if (effect.kind == WriteEffect::Kind::removed) check(effect.uid == uid, "the uid is the answer's");
  if (effect.kind == WriteEffect::Kind::changed)
    check(effect.version == answer.at({"metadata", "resourceVersion"}).string_or(""),
          "the version is the answer's");
}

}  // namespace

void write_answer(std::string_view input) {
  Reader reader(input);
  constexpr http::Method methods[] = {http::Method::post, http::Method::put, http::Method::patch,
                                      http::Method::delete_};
  constexpr int statuses[] = {0, 200, 201, 404, 409, 500};
  constexpr const char* subresources[] = {"", "", "status", "scale", "eviction", "binding"};
  RestRequest request{.method = methods[reader.below(4)], .resource = {"", "v1", "Pod", "pods"}};
  const int status = statuses[reader.below(6)];
  request.subresource = subresources[reader.below(6)];
  if (reader.below(2) == 1) request.name = "web";
  request.path = reader.until('\n');
  request.body = reader.until('\n');
  const std::string_view body = reader.rest();
  static_cast<void>(detail::addressed(request));
  request.path.clear();
  const Json answer = parsed_or_null(body);
  const detail::WriteAnswer read = detail::read_answer({request, status, body});
  for (const auto& [effect, text] : read.facts) {
    check(!request.name.empty() || request.method != http::Method::put || !effect.name.empty(),
          "an effect has a name");
    check(text.empty() || text == body, "the text is the answer");
    if (request.name == "web" && !read.of_collection) compare(effect, answer);
  }
}

}  // namespace evenkeel::fuzz
