// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <stdexcept>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/webhook/conversion.hpp>

#include "base/caught.hpp"
#include "base/limits.hpp"
#include "base/shown_text.hpp"
#include "webhook/review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::field;
using detail::Presence;

constexpr std::string_view conversion_review = "ConversionReview";

// Restores what a conversion must not change; labels and annotations are those of `to`.
// Source: apiextensions-apiserver pkg/apiserver/conversion, restoreObjectMeta.
void restore_metadata(const Json& from, Json& to) {
  Json metadata = from["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  for (const char* open : {"labels", "annotations"}) {
    const Json& changed = std::as_const(to)["metadata"][open];
    if (changed.is_null())
      metadata.erase(open);
    else
      metadata[open] = changed;
  }
  to["metadata"] = std::move(metadata);
}

std::string describe(const Json& object, std::string_view api_version) {
  const DynamicObject named(object);
  return named.what() + ": " + std::string(named.api_version()) + " to " + std::string(api_version);
}

const Conversion& conversion_of(const std::vector<Conversion>& conversions, const Json& object,
                                std::string_view api_version) {
  const std::string kind = object["kind"].string_or("");
  const std::string found = object["apiVersion"].string_or("");
  const std::string group = found.substr(0, found.find('/') == std::string::npos ? 0 : found.find('/'));
  for (const Conversion& each : conversions) {
    if (each.hub().kind == kind && each.hub().group == group) return each;
  }
  throw Error(describe(object, api_version) + ": there is no conversion of this kind");
}

Json success() {
  return Json::object({{"status", "Success"}});
}

Json failed(const std::string& failure) {
  return Json::object({{"status", "Failure"}, {"message", detail::bounded_text(failure)}});
}

Json convert_all(const std::vector<Conversion>& conversions, const Json& objects, std::string_view desired) {
  Json converted = Json::array();
  for (std::size_t at = 0; at < objects.size(); ++at) {
    if (!objects[at].is_object())
      throw Error("ConversionReview: request.objects[" + std::to_string(at) + "]: expected object, found " +
                  std::string(objects[at].kind_name()));
    converted.push_back(conversion_of(conversions, objects[at], desired).convert(objects[at], desired));
  }
  return converted;
}

}  // namespace

void Conversion::add(Version version) {
  const ResourceId& resource = version.resource;
  if (resource.group != hub().group || resource.kind != hub().kind)
    throw std::invalid_argument("Conversion: " + resource.kind + " (" + resource.api_version() +
                                ") is not a version of " + hub().kind + " (" + hub().api_version() + ")");
  if (find(resource.api_version()) != nullptr)
    throw std::invalid_argument("Conversion: " + resource.kind + " has the version " + resource.version +
                                " twice");
  versions_.push_back(std::move(version));
}

const Conversion::Version* Conversion::find(std::string_view api_version) const noexcept {
  for (const Version& version : versions_) {
    if (version.resource.api_version() == api_version) return &version;
  }
  return nullptr;
}

Json Conversion::convert(const Json& object, std::string_view api_version) const {
  const std::string version = object["apiVersion"].string_or("");
  if (version == api_version) return object;
  const Version* from = find(version);
  const Version* to = find(api_version);
  try {
    if (from == nullptr || to == nullptr)
      throw Error("there is no conversion of version " +
                  (from == nullptr ? version : std::string(api_version)));
    Json result = object;
    for (const Step& step : {from->to_hub, to->from_hub}) {
      if (!step) continue;
      Json next = step(result);
      restore_metadata(result, next);
      result = std::move(next);
    }
    result["apiVersion"] = api_version;
    result["kind"] = hub().kind;
    return result;
  } catch (const std::exception& error) {
    throw Error(describe(object, api_version) + ": " + error.what());
  }
}

Json answer_conversion_review(const std::vector<Conversion>& conversions, const Json& review,
                              std::string& failure) {
  detail::check_review(review, conversion_review, "apiextensions.k8s.io");
  const Json& request =
      field(review, conversion_review, "", "request", Presence::required, Json::Kind::object);
  const Json& uid =
      field(request, conversion_review, "request", "uid", Presence::required, Json::Kind::string);
  const Json& desired = field(request, conversion_review, "request", "desiredAPIVersion", Presence::required,
                              Json::Kind::string);
  const Json& objects =
      field(request, conversion_review, "request", "objects", Presence::required, Json::Kind::array);
  Json response = Json::object({{"uid", uid}, {"result", success()}, {"convertedObjects", Json::array()}});
  try {
    response["convertedObjects"] = convert_all(conversions, objects, desired.as_string());
  } catch (const Error& error) {
    failure = error.what();
    response["result"] = failed(failure);
  } catch (...) {
    failure = detail::foreign_exception;
    response["result"] = failed(failure);
  }
  return Json::object({{"apiVersion", "apiextensions.k8s.io/v1"},
                       {"kind", conversion_review},
                       {"response", std::move(response)}});
}

http::Response answer_conversion(const std::vector<Conversion>& conversions, const http::Request& request,
                                 std::string& failure) {
  try {
    const Json review = detail::read_body(request, conversion_review, limits::conversion_values);
    return detail::json_answer(answer_conversion_review(conversions, review, failure));
  } catch (const detail::RefusedReview& error) {
    failure = error.what();
    return detail::text_answer(error.code(), error.what());
  } catch (const DecodeError& error) {
    failure = error.what();
    return detail::text_answer(400, error.what());
  }
}

}  // namespace v0
}  // namespace evenkeel
