// SPDX-License-Identifier: Apache-2.0
#include "cache/write_answer.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <simdjson.h>

#include <evenkeel/base/error.hpp>
#include <evenkeel/client/list_splitter.hpp>

#include "base/simdjson_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

namespace ondemand = simdjson::ondemand;
using Kind = WriteEffect::Kind;

/// The parts of a document that tell the effect of a write.
struct AnswerParts {
  std::string kind = {};
  std::string reason = {};  // of a Status
  std::string name = {};
  std::string namespace_ = {};
  std::string uid = {};
  std::string version = {};
  std::string details_uid = {};  // of a Status
  std::string precondition_uid = {};
  bool is_ending = false;          // it has a deletionTimestamp
  bool has_finalizers = false;     // in its metadata
  bool has_content = false;        // a Namespace with finalizers in its spec
  std::int64_t grace_seconds = 0;  // left before the deletion
};

bool has_items(ondemand::value value) {
  ondemand::array items;
  if (value.get_array().get(items) != simdjson::SUCCESS) return false;
  for ([[maybe_unused]] auto item : items) return true;
  return false;
}

// Reads the metadata of an object; the last of repeated members counts, as everywhere.
void read_metadata(ondemand::value value, AnswerParts& parts) {
  parts = {.kind = std::move(parts.kind),
           .reason = std::move(parts.reason),
           .details_uid = std::move(parts.details_uid),
           .precondition_uid = std::move(parts.precondition_uid),
           .has_content = parts.has_content};
  ondemand::object metadata;
  if (value.get_object().get(metadata) != simdjson::SUCCESS) return;
  for (auto field : metadata) {
    const std::string_view name = field.unescaped_key();
    ondemand::value member = field.value();
    if (name == "name") parts.name = string_in(member);
    if (name == "namespace") parts.namespace_ = string_in(member);
    if (name == "uid") parts.uid = string_in(member);
    if (name == "resourceVersion") parts.version = string_in(member);
    if (name == "deletionTimestamp") parts.is_ending = !string_in(member).empty();
    if (name == "finalizers") parts.has_finalizers = has_items(member);
    if (name == "deletionGracePeriodSeconds") {
      if (member.get_int64().get(parts.grace_seconds) != simdjson::SUCCESS) parts.grace_seconds = 0;
    }
  }
}

/// Calls `take` with the value of the member `name` of an object.
template <class Take>
void read_member(ondemand::value value, std::string_view name, Take take) {
  ondemand::object members;
  if (value.get_object().get(members) != simdjson::SUCCESS) return;
  for (auto field : members) {
    const bool found = std::string_view(field.unescaped_key()) == name;
    ondemand::value member = field.value();
    if (found) take(member);
  }
}

void read_part(std::string_view name, ondemand::value value, AnswerParts& parts) {
  if (name == "kind") parts.kind = string_in(value);
  if (name == "reason") parts.reason = string_in(value);
  if (name == "metadata") read_metadata(value, parts);
  if (name == "details") {
    parts.details_uid.clear();
    read_member(value, "uid", [&](ondemand::value uid) { parts.details_uid = string_in(uid); });
  }
  if (name == "spec")
    read_member(value, "finalizers", [&](ondemand::value list) { parts.has_content = has_items(list); });
  if (name == "deleteOptions") {
    read_member(value, "preconditions", [&](ondemand::value given) {
      read_member(given, "uid", [&](ondemand::value uid) { parts.precondition_uid = string_in(uid); });
    });
  }
}

/// Returns empty parts for what is not a JSON object.
AnswerParts parts_of(std::string_view document) {
  AnswerParts parts;
  try {
    const simdjson::padded_string text(document);
    ondemand::parser parser;
    ondemand::document parsed = parser.iterate(text);
    for (auto field : parsed.get_object()) {
      const std::string_view name = field.unescaped_key();
      read_part(name, field.value(), parts);
    }
  } catch (const simdjson::simdjson_error&) {  // of bodies in other formats nothing is known
  }
  return parts;
}

bool is_namespace(const ResourceId& resource) {
  return resource.group.empty() && resource.plural == "namespaces";
}

/// Returns true if the server has removed the object with this answer: it was the last update of an object
/// that is being deleted, or a deletion without delay.
/// Source: kubernetes, registry/generic/registry/store.go, ShouldDeleteDuringUpdate.
bool is_gone(const AnswerParts& parts, const RestRequest& request) {
  if (!parts.is_ending) return request.method == http::Method::delete_;
  if (parts.has_finalizers || parts.grace_seconds != 0) return false;
  return !is_namespace(request.resource) || !parts.has_content;
}

WriteEffect effect_on(const RestRequest& request, Kind kind) {
  return {.kind = kind, .namespace_ = request.namespace_, .name = request.name};
}

/// Reads the answer of a write of one object, or of a subresource of it, that succeeded.
WriteAnswer read_object(const RestRequest& request, std::string_view body) {
  const AnswerParts parts = parts_of(body);
  WriteEffect effect = effect_on(request, Kind::written);
  if (effect.name.empty()) effect.name = parts.name;
  if (effect.name.empty()) return {};
  if (parts.kind == "Status") {
    if (request.method != http::Method::delete_) return {};
    effect.kind = parts.details_uid.empty() ? Kind::ending : Kind::removed;
    effect.uid = parts.details_uid;
    return {.facts = {{std::move(effect)}}};
  }
  if (parts.uid.empty() || parts.version.empty()) return {};
  const bool whole = parts.kind == request.resource.kind;
  if (!whole && request.method == http::Method::post && !request.subresource.empty()) return {};
  if (is_gone(parts, request)) {
    effect.kind = Kind::removed;
    effect.uid = parts.uid;
    effect.version = parts.version;
  } else if (!whole) {
    effect.kind = Kind::changed;  // a Scale, or metadata only: both have the resourceVersion of the object
    effect.version = parts.version;
  }
  const bool is_written = effect.kind == Kind::written;
  return {.facts = {{std::move(effect), is_written ? body : std::string_view()}}};
}

WriteAnswer read_collection(const RestRequest& request, std::string_view body) {
  WriteAnswer answer;
  try {
    ListSplitter list;
    list.feed(body);
    while (const auto item = list.next()) {
      const AnswerParts parts = parts_of(*item);
      WriteEffect effect = effect_on(request, Kind::ending);
      effect.namespace_ = parts.namespace_;
      effect.name = parts.name;
      effect.uid = parts.uid;
      answer.facts.push_back({std::move(effect)});
    }
    list.finish();
  } catch (const DecodeError&) {
    return {.facts = {}, .of_collection = true};
  }
  return answer;
}

/// Reads the answer of a write that the server did not perform.
WriteAnswer read_refusal(const RestRequest& request, int status, std::string_view body) {
  if (status == 404) {
    if (request.name.empty() || request.method == http::Method::post) return {};
    return {.facts = {{effect_on(request, Kind::absent)}}};
  }
  const AnswerParts sent = parts_of(request.body);
  if (request.method == http::Method::post) {
    if (!request.subresource.empty() || sent.name.empty() || parts_of(body).reason != "AlreadyExists")
      return {};
    WriteEffect effect = effect_on(request, Kind::present);
    effect.name = sent.name;
    return {.facts = {{std::move(effect)}}};
  }
  if (sent.version.empty() || request.name.empty()) return {};  // not because of an old state
  WriteEffect effect = effect_on(request, Kind::outdated);
  effect.version = sent.version;
  return {.facts = {{std::move(effect)}}};
}

/// Returns the effects of a write without an answer, or of one that failed in the server.
WriteAnswer read_nothing(const RestRequest& request) {
  WriteEffect effect = effect_on(request, Kind::unknown);
  if (effect.name.empty() && request.method == http::Method::post) effect.name = parts_of(request.body).name;
  if (effect.name.empty()) return {};
  return {.facts = {{std::move(effect)}}};
}

}  // namespace

RestRequest addressed(const RestRequest& request) {
  RestRequest result{.method = request.method,
                     .resource = request.resource,
                     .namespace_ = request.namespace_,
                     .name = request.name,
                     .subresource = request.subresource,
                     .query = request.query,
                     .body = request.body};
  if (request.path.empty()) return result;
  std::vector<std::string> parts;
  const std::string path = request.path.substr(0, request.path.find('?'));
  for (std::size_t at = 1; at < path.size() + 1;) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  result.resource = {};
  const std::size_t first = !parts.empty() && parts[0] == "apis" ? 3 : 2;
  if (parts.size() <= first || (parts[0] != "api" && parts[0] != "apis")) return result;
  std::size_t at = first;
  const bool in_namespace = parts[at] == "namespaces" && parts.size() > at + 2 && parts[at + 2] != "status" &&
                            parts[at + 2] != "finalize";
  if (in_namespace) result.namespace_ = parts[at + 1];
  if (in_namespace) at += 2;
  result.resource.group = first == 3 ? parts[1] : "";
  result.resource.version = parts[first - 1];
  result.resource.plural = parts[at];
  if (parts.size() > at + 1) result.name = parts[at + 1];
  if (parts.size() > at + 2) result.subresource = parts[at + 2];
  return result;
}

WriteAnswer read_answer(const ObservedWrite& write) {
  const RestRequest& request = write.request;
  const bool ended = write.status != 0 && write.status < 500;
  if (request.method == http::Method::delete_ && request.name.empty()) {
    if (write.status == 404) return {};
    return write.status >= 200 && write.status < 300 ? read_collection(request, write.body)
                                                     : WriteAnswer{.facts = {}, .of_collection = true};
  }
  if (ended && write.status >= 300) return read_refusal(request, write.status, write.body);
  const bool is_post_to_part = request.method == http::Method::post && !request.subresource.empty();
  if (is_post_to_part && request.subresource == "token") return {};
  if (!ended) return read_nothing(request);
  if (is_post_to_part && request.subresource == "eviction") {
    WriteEffect effect = effect_on(request, Kind::ending);
    effect.uid = parts_of(request.body).precondition_uid;
    return {.facts = {{std::move(effect)}}};
  }
  if (is_post_to_part && request.subresource == "binding")
    return {.facts = {{effect_on(request, Kind::outdated)}}};
  return read_object(request, write.body);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
