// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/conversion_review.hpp"

#include <utility>

#include "apiserver/schema/metadata_validation.hpp"
#include "apiserver/schema/pruning.hpp"
#include "apiserver/webhook/webhook_review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view kind_of_review = "ConversionReview";
constexpr std::string_view group_of_review = "apiextensions.k8s.io";
constexpr int review_timeout_seconds = 30;

/// The error of an answer that is not acceptable; the text lacks the kind that every error begins with.
struct BadAnswer {
  std::string text;
};

/// Returns the first version of reviews that the server knows; empty if there is none.
std::string review_version(const ResourceType& type) {
  const Json& versions = type.hook->reviews;
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (const std::string version = versions[i].string_or(""); version == "v1" || version == "v1beta1")
      return std::string(group_of_review) + "/" + version;
  return {};
}

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

/// Returns "example.com/v1, Kind=Ship".
std::string described(const Json& object) {
  return object["apiVersion"].string_or("") + ", Kind=" + object["kind"].string_or("");
}

/// Returns the name of a value's type in Go.
std::string go_type(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::null:
      return "<nil>";
    case Json::Kind::boolean:
      return "bool";
    case Json::Kind::integer:
      return "int64";
    case Json::Kind::number:
      return "float64";
    case Json::Kind::string:
      return "string";
    case Json::Kind::array:
      return "[]interface {}";
    case Json::Kind::object:
      break;
  }
  return "map[string]interface {}";
}

/// Returns convertedObjects of an answer. Throws BadAnswer.
Json objects_in(const ConversionOrder& order, const WebhookAnswer& answer) {
  const std::string wanted = review_version(*order.type);
  Json review;
  try {
    review = review_in(answer, kind_of_review, group_of_review);
  } catch (const FailedCall& failed) {
    throw BadAnswer{"failed: " + failed.problem};
  }
  const auto failed = [](const std::string& problem) { return BadAnswer{"failed: " + problem}; };
  const bool strict = wanted.ends_with("/v1");  // v1beta1 was never checked
  if (const std::string found = std::as_const(review)["apiVersion"].string_or(""); strict && found != wanted)
    throw failed("expected webhook response of " + wanted + ", Kind=ConversionReview, got " + found +
                 ", Kind=ConversionReview");
  const Json& response = std::as_const(review)["response"];
  if (!response.is_object()) throw failed("no response provided");
  if (const std::string uid = response["uid"].string_or(""); strict && uid != order.uid)
    throw failed("expected response.uid=" + quoted(order.uid) + ", got " + quoted(uid));
  const std::string status = response.at({"result", "status"}).string_or("");
  if (status != "Success") {
    const std::string message = response.at({"result", "message"}).string_or("");
    throw failed(message.empty() ? "response.result.status was '" + status + "', not 'Success'" : message);
  }
  const Json& objects = response["convertedObjects"];
  if (objects.size() != order.objects.size() || (!objects.is_array() && !objects.is_null()))
    throw BadAnswer{"returned " + std::to_string(objects.is_array() ? objects.size() : 0) +
                    " objects, expected " + std::to_string(order.objects.size())};
  return objects;
}

/// Throws BadAnswer unless both are one object. Source: validateConvertedObject.
void check_same(const Json& original, const Json& converted) {
  for (const auto& [member, title] :
       {std::pair("name", "name"), std::pair("namespace", "namespace"), std::pair("uid", "UID")}) {
    const std::string before = original.at({"metadata", member}).string_or("");
    const std::string after = converted.at({"metadata", member}).string_or("");
    if (before != after)
      throw BadAnswer{std::string("returned invalid object: must have the same ") + title + ": " + before +
                      " != " + after};
  }
}

void check_type(const ConversionOrder& order, const Json& original, const Json& converted) {
  const std::string invalid = "returned invalid object at index 0: invalid ";
  const std::string found = converted["apiVersion"].string_or(""), kind = converted["kind"].string_or("");
  const std::string wanted = original["kind"].string_or("");
  if (found != order.api_version())
    throw BadAnswer{invalid + "groupVersion (expected " + order.api_version() + ", received " + found + ")"};
  if (kind != wanted) throw BadAnswer{invalid + "kind (expected " + wanted + ", received " + kind + ")"};
}

/// Returns the problems of changed labels or annotations; empty if there are none.
std::string map_problems(const std::string& member, const Json& values) {
  const FieldErrors errors = check_metadata_parts(Json::object({{member, values}}));
  std::string text;
  for (const FieldError& error : errors) {
    // A real server says "annotation" here.
    const std::string field = member == "annotations" ? "metadata.annotation" : error.field;
    text += (text.empty() ? "" : ", ") + field + ": " + error.message;
  }
  return errors.size() > 1 ? "[" + text + "]" : text;
}

/// Returns labels or annotations of the answer for the object. Throws the problem as BadAnswer.
Json taken_map(const std::string& member, const Json& before, const Json& given) {
  if (!given.is_object())
    throw BadAnswer{"invalid metadata." + member + " of type " + go_type(given) + " in converted object"};
  for (const auto& [key, value] : given.as_object())
    if (!value.is_string())
      throw BadAnswer{"metadata." + member + "[" + key + "] must be a string, but is " + go_type(value) +
                      " in converted object"};
  if (given != before)
    if (const std::string problem = map_problems(member, given); !problem.empty()) throw BadAnswer{problem};
  return given;
}

/// Gives `converted` the metadata of the original, but keeps its labels and annotations. Throws BadAnswer.
/// Source: restoreObjectMeta.
void restore_metadata(const Json& original, Json& converted) {
  const Json given = std::as_const(converted)["metadata"];
  Json metadata = original["metadata"];
  for (const char* member : {"labels", "annotations"}) {
    if (given[member].is_null())
      metadata.erase(member);
    else
      metadata[member] = taken_map(member, original["metadata"][member], given[member]);
  }
  converted["metadata"] = std::move(metadata);
}

/// Checks and completes one object: in the words of a real server, which sends each in a review of its own.
/// Throws BadAnswer, and StatusError for a value without a kind.
Json accepted(const ConversionOrder& order, const Json& original, Json converted) {
  if (!converted.is_object() || std::as_const(converted)["kind"].string_or("").empty())
    throw StatusError(500, "", "Object 'Kind' is missing in '" + converted.dump() + "'");
  check_type(order, original, converted);
  check_same(original, converted);
  try {
    if (!converted.contains("metadata")) throw BadAnswer{"missing metadata in converted object"};
    if (const Json& metadata = std::as_const(converted)["metadata"]; !metadata.is_object())
      throw BadAnswer{"invalid metadata of type " + go_type(metadata) + " in converted object"};
    restore_metadata(original, converted);
  } catch (const BadAnswer& bad) {
    throw BadAnswer{"returned invalid metadata: " + bad.text};
  }
  if (const auto schema = order.type->schemas.find(order.version); schema != order.type->schemas.end())
    prune(converted, *schema->second);
  return converted;
}

}  // namespace

WebhookCall conversion_call(const ConversionOrder& order) {
  const ResourceType& type = *order.type;
  const std::string version = review_version(type);
  if (version.empty()) throw StatusError(500, "", "no supported conversion review versions");
  for (const Json& object : order.objects) {
    const std::string from = object["apiVersion"].string_or("");
    if (!type.schemas.contains(from.substr(from.find('/') + 1)))
      throw StatusError(500, "", "request to convert CR from an invalid group/version: " + from);
  }
  WebhookCall call =
      webhook_call("conversion_webhook_for_" + type.crd_name, type.hook->client, review_timeout_seconds);
  Json request = Json::object({{"uid", order.uid}, {"desiredAPIVersion", order.api_version()}});
  request["objects"] = Json(order.objects);
  Json review = Json::object({{"kind", kind_of_review}, {"apiVersion", version}});
  review["request"] = std::move(request);
  // A real server sends an empty response too.
  review["response"] = Json::object(
      {{"uid", ""}, {"convertedObjects", nullptr}, {"result", Json::object({{"metadata", Json::object()}})}});
  call.body = review.dump();
  return call;
}

std::vector<Json> converted_by(const ConversionOrder& order, const WebhookAnswer& answer) {
  std::vector<Json> out;
  try {
    Json objects = objects_in(order, answer);
    for (std::size_t i = 0; i < order.objects.size(); ++i)
      out.push_back(accepted(order, order.objects[i], std::move(objects[i])));
    return out;
  } catch (const BadAnswer& bad) {
    throw StatusError(500, "",
                      "conversion webhook for " + described(order.objects[out.size()]) + " " + bad.text);
  }
}

bool is_about_its_objects(const ConversionOrder& order, const WebhookAnswer& answer) {
  return order.objects.size() > 1 && answer.error.empty() && answer.status == 200;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
