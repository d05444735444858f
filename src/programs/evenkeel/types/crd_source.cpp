// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/crd_source.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "client/config/yaml_text.hpp"

namespace evenkeel::program {

using detail::ascii::is_digit;
using detail::ascii::is_lower;
using detail::ascii::is_upper;
namespace {

const std::string definition = "CustomResourceDefinition";

std::string expected(std::string_view what, const Json& found) {
  std::string text = "expected " + std::string(what) + ", found " +
                     (found.is_null() ? std::string("nothing") : std::string(found.kind_name()));
  if (found.is_string()) text += " " + found.dump();
  return text;
}

/// A value of a document, with its path for errors.
class Node {
 public:
  Node(const std::string& where, const Json& value, std::string path = {})
      : where_(where), value_(value), path_(std::move(path)) {}

  Node operator[](std::string_view member) const {
    return {where_, value_[member], (path_.empty() ? "" : path_ + ".") + std::string(member)};
  }
  Node operator[](std::size_t index) const {
    return {where_, value_[index], path_ + "[" + std::to_string(index) + "]"};
  }
  const Json& value() const { return value_; }
  const std::string& path() const { return path_; }
  bool is_absent() const { return value_.is_null(); }

  [[noreturn]] void fail(const std::string& problem) const {
    throw DecodeError(path_.empty() ? where_ : where_ + ": " + path_, problem);
  }
  /// Returns a string that is not empty.
  const std::string& text() const {
    if (!value_.is_string() || value_.as_string().empty()) fail(expected("string", value_));
    return value_.as_string();
  }
  /// Returns a string of letters, digits, dots and dashes.
  const std::string& name() const {
    const auto is_part = [](char c) {
      return is_lower(c) || is_upper(c) || is_digit(c) || c == '.' || c == '-';
    };
    if (!std::all_of(text().begin(), text().end(), is_part))
      fail("expected letters, digits, '.' and '-', found " + value_.dump());
    return text();
  }
  std::string optional_text() const { return is_absent() ? std::string() : text_or_empty(); }
  bool flag() const {
    if (!is_absent() && !value_.is_bool()) fail(expected("boolean", value_));
    return value_.bool_or(false);
  }
  /// Returns the number of items; 0 if the list is absent.
  std::size_t items() const {
    if (!is_absent() && !value_.is_array()) fail(expected("array", value_));
    return value_.size();
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < items(); ++i) out.push_back((*this)[i].text());
    return out;
  }
  const Node& object() const {
    if (!value_.is_object()) fail(expected("object", value_));
    return *this;
  }

 private:
  const std::string& text_or_empty() const {
    if (!value_.is_string()) fail(expected("string", value_));
    return value_.as_string();
  }

  const std::string& where_;
  const Json& value_;
  std::string path_;
};

std::vector<CrdColumn> columns_of(const Node& columns) {
  std::vector<CrdColumn> out;
  for (std::size_t i = 0; i < columns.items(); ++i) {
    const Node column = columns[i];
    const Node priority = column["priority"];
    if (!priority.is_absent() && !priority.value().is_integer())
      priority.fail(expected("integer", priority.value()));
    out.push_back({.name = column["name"].text(),
                   .type = column["type"].text(),
                   .json_path = column["jsonPath"].text(),
                   .description = column["description"].optional_text(),
                   .format = column["format"].optional_text(),
                   .priority = priority.value().integer_or(0)});
  }
  return out;
}

std::optional<CrdScale> scale_of(const Node& scale) {
  if (scale.is_absent()) return std::nullopt;
  return CrdScale{.spec_replicas_path = scale["specReplicasPath"].text(),
                  .status_replicas_path = scale["statusReplicasPath"].text(),
                  .label_selector_path = scale["labelSelectorPath"].optional_text()};
}

/// Returns the version that is called `name`, or the one that is stored.
Node version_of(const Node& versions, const std::string& name) {
  std::string names;
  if (versions.items() == 0) versions.fail("expected at least one version");
  for (std::size_t i = 0; i < versions.items(); ++i) {
    const Node version = versions[i].object();
    if (name.empty() ? version["storage"].flag() : version["name"].text() == name) return version;
    names += (names.empty() ? "" : ", ") + version["name"].text();
  }
  if (name.empty()) versions.fail("no version has storage: true; --version chooses one of " + names);
  versions.fail("has no version " + name + "; there are " + names);
}

bool is_cluster_wide(const Node& scope) {
  if (scope.text() != "Cluster" && scope.text() != "Namespaced")
    scope.fail(expected("Cluster or Namespaced", scope.value()));
  return scope.text() == "Cluster";
}

/// Returns what a definition printed from types would lack: it has this version alone, and regular names.
std::vector<std::string> lost_of(const Node& spec, const Node& version) {
  std::vector<std::string> lost;
  const Node versions = spec["versions"];
  for (std::size_t i = 0; i < versions.items(); ++i) {
    const std::string& name = versions[i]["name"].text();
    if (name != version["name"].text()) lost.push_back("version " + name);
  }
  const std::string strategy = spec["conversion"]["strategy"].optional_text();
  if (!strategy.empty() && strategy != "None") lost.push_back("conversion " + strategy);
  const std::string kind = spec["names"]["kind"].name();
  const std::string singular = spec["names"]["singular"].optional_text();
  if (!singular.empty() && singular != evenkeel::detail::ascii::lower(kind))
    lost.push_back("singular " + singular);
  const std::string list_kind = spec["names"]["listKind"].optional_text();
  if (!list_kind.empty() && list_kind != kind + "List") lost.push_back("listKind " + list_kind);
  for (const char* flag : {"served", "storage"})
    if (!version[flag].is_absent() && !version[flag].flag()) lost.push_back(std::string(flag) + ": false");
  if (version["deprecated"].flag()) lost.push_back("deprecated");
  for (const char* part : {"deprecationWarning", "selectableFields"})
    if (!version[part].is_absent()) lost.push_back(part);
  return lost;
}

CrdSource source_of(const Node& root, std::string where, const std::string& version_name) {
  const Node spec = root["spec"].object();
  const Node names = spec["names"].object();
  const Node version = version_of(spec["versions"], version_name);
  const Node schema = version["schema"]["openAPIV3Schema"].object();
  return {.where = std::move(where),
          .schema_path = schema.path(),
          .group = spec["group"].name(),
          .version = version["name"].name(),
          .kind = names["kind"].name(),
          .plural = names["plural"].name(),
          .is_cluster_wide = is_cluster_wide(spec["scope"]),
          .short_names = names["shortNames"].texts(),
          .categories = names["categories"].texts(),
          .columns = columns_of(version["additionalPrinterColumns"]),
          .scale = scale_of(version["subresources"]["scale"]),
          .has_status = !version["subresources"]["status"].is_absent(),
          .api_approved = root["metadata"]["annotations"]["api-approved.kubernetes.io"].optional_text(),
          .schema = schema.value(),
          .lost = lost_of(spec, version)};
}

/// Returns true if an object is a definition of a kind that is selected.
bool is_selected(const Node& root, const CrdSelection& selection) {
  if (root["kind"].text() != definition) return false;
  if (root["apiVersion"].text() != "apiextensions.k8s.io/v1")
    root["apiVersion"].fail(expected("apiextensions.k8s.io/v1", root["apiVersion"].value()));
  return selection.kind.empty() || root["spec"]["names"]["kind"].value() == Json(selection.kind);
}

/// Adds the definitions in an object: it is one, or a List of objects.
void add_sources(const Json& object, const std::string& where, const CrdSelection& selection,
                 std::vector<CrdSource>& sources) {
  const Node root(where, object);
  const std::string& kind = root.object()["kind"].text();
  const bool is_of_definitions = kind == definition + "List";
  if (kind != "List" && !is_of_definitions) {
    if (is_selected(root, selection)) sources.push_back(source_of(root, where, selection.version));
    return;
  }
  for (std::size_t i = 0; i < root["items"].items(); ++i) {
    Json item = object["items"][i];
    if (is_of_definitions && item.is_object() && !item.contains("kind")) {  // as a server sends them
      item["kind"] = definition;
      item["apiVersion"] = object["apiVersion"];
    }
    add_sources(item, where + ": items[" + std::to_string(i) + "]", selection, sources);
  }
}

/// Text of one document, and the number of lines before it.
struct Document {
  std::string text = {};
  int line = 0;
};

std::vector<Document> documents_of(std::string_view text) {
  std::vector<Document> documents(1);
  for (int line = 0; !text.empty(); ++line) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view each = text.substr(0, size);
    const bool starts = each.starts_with("---") && (each.size() == 3 || each.find_first_of(" \t\r\n") == 3);
    if (starts) documents.push_back({.text = {}, .line = line});
    documents.back().text += each;
    text.remove_prefix(size);
  }
  return documents;
}

Json parse(const Document& document, const std::string& where) {
  try {
    return evenkeel::detail::yaml_to_json(evenkeel::detail::load_yaml(document.text),
                                          evenkeel::detail::yaml_allowance(document.text.size()));
  } catch (const YAML::Exception& error) {
    throw DecodeError(where,
                      "line " + std::to_string(document.line + error.mark.line + 1) + ": " + error.msg);
  } catch (const DecodeError& error) {
    throw DecodeError(where, error.problem());
  }
}

}  // namespace

std::vector<CrdSource> read_crds(std::string_view text, const std::string& file,
                                 const CrdSelection& selection) {
  std::vector<CrdSource> sources;
  int number = 0;
  for (const Document& document : documents_of(text)) {
    const std::string where = file + ": document " + std::to_string(number + 1);
    const Json root = parse(document, where);
    if (root.is_null()) continue;  // comments before the first document, or an empty one
    ++number;
    add_sources(root, where, selection, sources);
  }
  if (!sources.empty()) return sources;
  const std::string kind = selection.kind.empty() ? "" : " of the kind " + selection.kind;
  throw DecodeError(file, "no CustomResourceDefinition" + kind + " in " + std::to_string(number) +
                              (number == 1 ? " document" : " documents"));
}

}  // namespace evenkeel::program
