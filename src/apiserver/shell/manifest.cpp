// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/manifest.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <evenkeel/base/error.hpp>

#include "apiserver/text/block_yaml.hpp"
#include "apiserver/text/yaml_document.hpp"
#include "base/json_scan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

// Splits a YAML stream into documents: any line that starts with "---" is a separator.
std::vector<std::string_view> documents(std::string_view stream) {
  std::vector<std::string_view> found;
  std::size_t start = 0;
  for (std::size_t line = 0; line < stream.size();) {
    const std::size_t next = std::min(stream.find('\n', line), stream.size() - 1) + 1;
    const std::string_view mark = stream.substr(line, next - line);
    if (mark.starts_with("---") && mark.find_first_not_of(" \t\r\n", 3) == std::string_view::npos) {
      found.push_back(stream.substr(start, line - start));
      start = next;
    }
    line = next;
  }
  found.push_back(stream.substr(start));
  return found;
}

bool is_list(const Json& kind) {
  return kind.string_or("").ends_with("List");
}

/// Splits the text of a JSON object or array at its own level; the values are not validated.
class JsonLevel {
 public:
  explicit JsonLevel(std::string_view text) : text_(text) {}

  /// Returns the next character that is not a space, 0 at the end.
  char peek() {
    while (at_ < text_.size() && v0::detail::is_json_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  /// Returns the text of the next value; empty if there is none.
  std::string_view value() {
    peek();
    v0::detail::ValueScan scan;
    const std::size_t start = at_;
    at_ += scan.feed(text_.substr(at_));
    return text_.substr(start, at_ - start);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

using Objects = std::vector<ManifestObject>;

/// Appends the items of a JSON array. Returns false if it is malformed.
bool add_items(std::string_view text, Objects& out) {
  JsonLevel level(text);
  if (!level.take('[')) return false;
  if (level.take(']')) return level.peek() == '\0';
  do {
    out.emplace_back(Json::parse(level.value()));
  } while (level.take(','));
  return level.take(']') && level.peek() == '\0';
}

/// Appends the items of a JSON list, parsed one by one. Returns false if the text is anything else, and
/// throws DecodeError if it is malformed.
bool add_json_list(std::string_view text, Objects& out) {
  JsonLevel level(text);
  if (!level.take('{')) return false;
  Json kind;
  std::string_view items;
  do {
    const Json name = Json::parse(level.value());
    if (!name.is_string() || !level.take(':')) return false;
    const std::string_view value = level.value();
    if (name.as_string() == "items")
      items = value;
    else if (Json other = Json::parse(value); name.as_string() == "kind")
      kind = std::move(other);
  } while (level.take(','));
  if (!level.take('}') || level.peek() != '\0' || !is_list(kind)) return false;
  return items.empty() || add_items(items, out);
}

void add_document(const Json& document, Objects& out) {
  if (document.is_null()) return;
  if (!is_list(document["kind"])) {
    out.emplace_back(document);
    return;
  }
  for (std::size_t at = 0; at < document["items"].size(); ++at) out.emplace_back(document["items"][at]);
}

/// Appends the objects of a JSON document. Returns false, and appends nothing, if it is none.
bool add_json(std::string_view text, Objects& out) {
  if (JsonLevel(text).peek() != '{') return false;
  const std::size_t before = out.size();
  try {
    if (add_json_list(text, out)) return true;
    out.resize(before);
    add_document(Json::parse(text), out);
    return true;
  } catch (const DecodeError&) {
    out.resize(before);
    return false;
  }
}

/// Appends the items of a YAML list in block style, parsed one by one, or an object in block style. Returns
/// false, and appends nothing, for anything else.
bool add_block_yaml(std::string_view text, Objects& out) {
  const std::size_t before = out.size();
  const std::optional<BlockYaml> list = parse_block_yaml(text, [&](Json item) { out.emplace_back(item); });
  const bool has_items = out.size() > before;
  if (list && (is_list(list->document["kind"]) || !has_items)) {
    add_document(list->document, out);
    return true;
  }
  out.resize(before);
  return false;
}

}  // namespace

ManifestObject::ManifestObject(const Json& object)
    : api_version(object["apiVersion"].string_or("")),
      kind(object["kind"].string_or("")),
      namespace_(object.at({"metadata", "namespace"}).string_or("")),
      name(object.at({"metadata", "name"}).string_or("")),
      text(object.dump()) {}

std::string object_text(const ManifestObject& object) {
  return (object.kind.empty() ? "object" : object.kind) + "/" + object.name;
}

std::vector<ManifestObject> read_manifest(std::string_view manifest) {
  Objects objects;
  for (const std::string_view text : documents(manifest))
    if (!add_json(text, objects) && !add_block_yaml(text, objects))
      add_document(parse_yaml_whole(text), objects);
  return objects;
}

std::vector<Json> manifest_objects(std::string_view manifest) {
  std::vector<Json> objects;
  for (const ManifestObject& object : read_manifest(manifest)) objects.push_back(Json::parse(object.text));
  return objects;
}

http::Request json_request(http::Method method, std::string target, std::string body) {
  return {.method = method,
          .target = std::move(target),
          .headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}},
          .body = std::move(body)};
}

const ObjectCreator::Place& ObjectCreator::place_of(const ManifestObject& object) {
  const auto known = places_.find({object.api_version, object.kind});
  if (known != places_.end()) return known->second;
  const bool core = object.api_version.find('/') == std::string::npos;
  const std::string root = (core ? "/api/" : "/apis/") + object.api_version;
  const http::Response found = ask_(json_request(http::Method::get, root));
  const Json listed = found.status == 200 ? Json::parse(found.body) : Json();
  for (std::size_t at = 0; at < listed["resources"].size(); ++at) {
    const Json& resource = listed["resources"][at];
    const std::string plural = resource["name"].string_or("");
    if (resource["kind"] != Json(object.kind) || plural.find('/') != std::string::npos) continue;
    return places_
        .emplace(std::pair(object.api_version, object.kind),
                 Place{root, plural, resource["namespaced"].bool_or(false)})
        .first->second;
  }
  throw Error(object_text(object) + ": the server knows no kind " +
              (object.kind.empty() ? "\"\"" : object.kind) + " in \"" + object.api_version + "\"");
}

void ObjectCreator::create(const ManifestObject& object) {
  const Place& place = place_of(object);
  const std::string space = object.namespace_.empty() ? "default" : object.namespace_;
  const std::string target =
      place.root + (place.namespaced ? "/namespaces/" + space : "") + "/" + place.plural;
  const http::Response answer = ask_(json_request(http::Method::post, target, object.text));
  if (answer.status / 100 == 2) return;
  const Json body = Json::parse(answer.body, object_text(object));
  if (body["reason"].string_or("") == "AlreadyExists") return;
  throw Error(object_text(object) + ": " +
              body["message"].string_or("HTTP " + std::to_string(answer.status)));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
