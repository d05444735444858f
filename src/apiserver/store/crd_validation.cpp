// SPDX-License-Identifier: Apache-2.0
// Validation of CustomResourceDefinitions.
// Source: apiextensions pkg/apis/apiextensions/validation/validation.go.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/schema/name_rules.hpp"
#include "apiserver/schema/structural.hpp"
#include "apiserver/schema/webhook_client.hpp"
#include "apiserver/store/crd_rules.hpp"
#include "apiserver/text/regular_expression.hpp"
#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::size_t max_selectable_fields = 8;

std::string at(std::size_t index) {
  return "[" + std::to_string(index) + "]";
}

/// Returns true if all versions have equal values of a member. A real server keeps these once, under another
/// name that errors refer to.
bool is_shared(const Json& versions, std::string_view member) {
  for (std::size_t i = 1; i < versions.size(); ++i)
    if (versions[i][member] != versions[0][member]) return false;
  return versions.size() > 0;
}

class CrdCheck {
 public:
  explicit CrdCheck(const Json& crd) : crd_(crd), spec_(crd["spec"]), versions_(spec_["versions"]) {}

  void run(const Json& live) {
    if (live.is_null()) check_name();
    check_group();
    check_scope();
    check_schemas_there();
    check_versions();
    check_names();
    check_parts();
    check_conversion();
    check_bundle(live);
    check_stored_versions();
    check_approval(live);
    if (!live.is_null()) check_unchanged(live);
    if (spec_["preserveUnknownFields"].bool_or(false))
      errors.push_back(
          field_invalid("spec.preserveUnknownFields", Json(true),
                        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                        "spec.versions[*].schema instead"));
  }

  FieldErrors errors;

 private:
  void add(FieldErrors more) {
    errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  /// Checks a DNS-1035 label; kinds may have capitals.
  void check_label(const std::string& field, const Json& value, bool kind = false) {
    const std::string text = value.string_or("");
    const std::vector<std::string> problems =
        name_problems(kind ? evenkeel::detail::ascii::lower(text) : text, NameRule::dns_1035_label);
    if (!problems.empty())
      errors.push_back(field_invalid(field, text,
                                     (kind ? "may have mixed case, but should otherwise match: " : "") +
                                         evenkeel::detail::ascii::join(problems, ",")));
  }

  void check_name() {
    const std::string name = crd_.at({"metadata", "name"}).string_or("");
    const std::string wanted =
        spec_.at({"names", "plural"}).string_or("") + "." + spec_["group"].string_or("");
    if (name != wanted)
      errors.push_back(field_invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group"));
  }

  void check_group() {
    const std::string group = spec_["group"].string_or("");
    if (group.empty()) return errors.push_back(field_required("spec.group"));
    const std::vector<std::string> problems = name_problems(group, NameRule::dns_subdomain);
    if (!problems.empty())
      errors.push_back(field_invalid("spec.group", group, evenkeel::detail::ascii::join(problems, ",")));
    else if (group.find('.') == std::string::npos)
      errors.push_back(field_invalid("spec.group", group, "should be a domain with at least one dot"));
  }

  void check_scope() {
    const std::string scope = spec_["scope"].string_or("");
    if (scope.empty())
      errors.push_back(field_required("spec.scope"));
    else if (scope != "Cluster" && scope != "Namespaced")
      errors.push_back(field_not_supported("spec.scope", scope, {Json("Cluster"), Json("Namespaced")}));
  }

  void check_schemas_there() {
    for (std::size_t i = 0; i < versions_.size(); ++i)
      if (!versions_[i].at({"schema", "openAPIV3Schema"}).is_object())
        errors.push_back(field_required("spec.versions" + at(i) + ".schema.openAPIV3Schema"));
  }

  void check_versions() {
    std::size_t stored = 0;
    std::set<std::string> seen;
    bool unique = true;
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const Json& version = versions_[i];
      const std::string name = version["name"].string_or("");
      unique = seen.insert(name).second && unique;
      if (version["storage"].bool_or(false)) ++stored;
      check_label("spec.versions" + at(i) + ".name", version["name"]);
      if (i == 0 && !name.empty()) check_label("spec.version", version["name"]);
      check_deprecation(version, "spec.versions" + at(i) + ".deprecationWarning");
    }
    if (!unique)
      errors.push_back({"FieldValueInvalid",
                        "Invalid value: " + versions_text() + ": must contain unique version names",
                        "spec.versions"});
    if (stored != 1)
      errors.push_back(
          {"FieldValueInvalid",
           "Invalid value: " + versions_text() + ": must have exactly one version marked as storage version",
           "spec.versions"});
  }

  /// Returns the versions in the format of Go's internal type, without members that they share.
  std::string versions_text() const {
    if (!versions_.is_array()) return "null";
    std::string text = "[";
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const Json& version = versions_[i];
      const auto flag = [&](const char* name) { return version[name].bool_or(false) ? "true" : "false"; };
      text += (i > 0 ? ",{" : "{") + std::string("\"Name\":") + Json(version["name"].string_or("")).dump() +
              ",\"Served\":" + flag("served") + ",\"Storage\":" + flag("storage") +
              ",\"Deprecated\":" + flag("deprecated") +
              ",\"DeprecationWarning\":" + version["deprecationWarning"].dump() +
              ",\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,"
              "\"SelectableFields\":null}";
    }
    return text + "]";
  }

  void check_deprecation(const Json& version, const std::string& field) {
    const Json* warning = version.find("deprecationWarning");
    if (warning == nullptr || !warning->is_string()) return;
    const std::string& text = warning->as_string();
    if (!version["deprecated"].bool_or(false))
      return errors.push_back(field_invalid(field, text, "can only be set for deprecated versions"));
    if (text.size() > 256) errors.push_back(field_invalid(field, text, "must be <= 256 characters long"));
    if (text.empty()) errors.push_back(field_invalid(field, text, "must not be an empty string"));
    static const RegularExpression unprintable("[^\\pL\\pM\\pN\\pP\\pS ]");
    unprintable.each_match(text, [&](const RegularExpression::Match& match) {
      errors.push_back(field_invalid(field, text,
                                     "must only contain printable UTF-8 characters; non-printable character "
                                     "found at index " +
                                         std::to_string(match.place)));
      return false;
    });
  }

  void check_names() {
    const Json& names = spec_["names"];
    for (const auto& [name, is_kind] : {std::pair("plural", false), std::pair("singular", false),
                                        std::pair("kind", true), std::pair("listKind", true)}) {
      const std::string field = std::string("spec.names.") + name;
      if (names[name].string_or("").empty())
        errors.push_back(field_required(field));
      else
        check_label(field, names[name], is_kind);
    }
    for (const char* list : {"shortNames", "categories"})
      for (std::size_t i = 0; i < names[list].size(); ++i)
        check_label("spec.names." + std::string(list) + at(i), names[list][i]);
    const std::string kind = names["kind"].string_or("");
    if (!kind.empty() && names["listKind"] == names["kind"])
      errors.push_back(field_invalid("spec.names.listKind", kind, "kind and listKind may not be the same"));
  }

  /// Checks schema, subresources, columns and selectable fields: once if all versions share them, else for
  /// each.
  void check_parts() {
    const auto each = [&](std::string_view member, const std::string& shared, const std::string& own,
                          auto check) {
      if (is_shared(versions_, member)) return check(versions_[0], shared);
      for (std::size_t i = 0; i < versions_.size(); ++i) check(versions_[i], "spec.versions" + at(i) + own);
    };
    each("schema", "spec.validation.openAPIV3Schema", ".schema.openAPIV3Schema",
         [this](const Json& version, const std::string& path) {
           const Json& schema = version.at({"schema", "openAPIV3Schema"});
           const auto has_status = [](const Json& one) {
             return !one.at({"subresources", "status"}).is_null();
           };
           const bool is_of_all = path == "spec.validation.openAPIV3Schema";
           if (is_of_all ? std::any_of(versions_.as_array().begin(), versions_.as_array().end(), has_status)
                         : has_status(version))
             add(check_root(schema, path));
           add(check_structural(schema, path));
         });
    each("subresources", "spec.subresources.", ".subresources.",
         [this](const Json& version, const std::string& path) { check_scale(version, path); });
    each("additionalPrinterColumns", "spec.additionalPrinterColumns", ".additionalPrinterColumns",
         [this](const Json& version, const std::string& path) {
           const Json& columns = version["additionalPrinterColumns"];
           for (std::size_t i = 0; i < columns.size(); ++i) check_column(columns[i], path + at(i) + ".");
         });
    each("selectableFields", "spec.selectableFields", ".selectableFields",
         [this](const Json& version, const std::string& path) { check_selectable(version, path); });
  }

  bool check_path(const std::string& text, const std::string& field) {
    if (text.starts_with('.')) return true;
    errors.push_back(field_invalid(field, text, "must be a simple json path starting with ."));
    return false;
  }

  void check_scale(const Json& version, const std::string& path) {
    const Json& scale = version.at({"subresources", "scale"});
    if (!scale.is_object()) return;
    for (const auto& [name, root] :
         {std::pair("specReplicasPath", ".spec."), std::pair("statusReplicasPath", ".status.")}) {
      const std::string field = path + "scale." + name, text = scale[name].string_or("");
      if (text.empty())
        errors.push_back(field_required(field));
      else if (check_path(text, field) && !text.starts_with(root))
        errors.push_back(field_invalid(
            field, text,
            "should be a json path under " + std::string(root).substr(0, std::string_view(root).size() - 1)));
    }
    const std::string field = path + "scale.labelSelectorPath";
    const std::string text = scale["labelSelectorPath"].string_or("");
    if (!text.empty() && check_path(text, field) && !text.starts_with(".spec.") &&
        !text.starts_with(".status."))
      errors.push_back(field_invalid(field, text, "should be a json path under either .spec or .status"));
  }

  void check_column(const Json& column, const std::string& path) {
    static constexpr std::array<std::string_view, 5> types = {"boolean", "date", "integer", "number",
                                                              "string"};
    static constexpr std::array<std::string_view, 8> formats = {"byte",  "date",  "date-time", "double",
                                                                "float", "int32", "int64",     "password"};
    const std::string type = column["type"].string_or(""), format = column["format"].string_or("");
    if (column["name"].string_or("").empty()) errors.push_back(field_required(path + "name"));
    if (type.empty())
      errors.push_back(field_required(path + "type", "must be one of boolean,date,integer,number,string"));
    else if (std::find(types.begin(), types.end(), type) == types.end())
      errors.push_back(
          field_invalid(path + "type", type, "must be one of boolean,date,integer,number,string"));
    if (!format.empty() && std::find(formats.begin(), formats.end(), format) == formats.end())
      errors.push_back(field_invalid(path + "format", format,
                                     "must be one of byte,date,date-time,double,float,int32,int64,password"));
    const std::string json_path = column["jsonPath"].string_or("");
    if (json_path.empty())
      errors.push_back(field_required(path + "JSONPath"));
    else
      check_path(json_path, path + "JSONPath");
  }

  /// Where one of schema and fields is kept once for all versions, and the other one is not, a real server
  /// finds no schema.
  void check_selectable(const Json& version, const std::string& path) {
    std::set<std::string> seen;
    const Json& fields = version["selectableFields"];
    const bool is_of_all = path == "spec.selectableFields";
    if (!fields.empty() && is_of_all != is_shared(versions_, "schema"))
      return errors.push_back(
          field_invalid(path, Json(""),
                        is_of_all ? "may only be set when validations.schema is included"
                                  : "may only be set when `version.schema.openAPIV3Schema` is not included"));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string field = path + at(i) + ".jsonPath", text = fields[i]["jsonPath"].string_or("");
      if (text.empty()) {
        errors.push_back(field_required(field));
        continue;
      }
      const std::string problem = text.find('[') != std::string::npos
                                      ? "array notation is not allowed"
                                      : field_path_problem(text, version.at({"schema", "openAPIV3Schema"}));
      if (!problem.empty()) {
        errors.push_back(field_invalid(field, text, "is an invalid path: " + problem));
        continue;
      }
      if (text == ".metadata" || text.starts_with(".metadata."))
        errors.push_back(field_invalid(field, text, "must not point to fields in metadata"));
      const std::string type =
          schema_at(text, version.at({"schema", "openAPIV3Schema"}))["type"].string_or("");
      if (type != "string" && type != "boolean" && type != "integer")
        errors.push_back(
            field_invalid(field, text,
                          "must point to a field of type string, boolean or integer. Enum string "
                          "fields and strings with formats are allowed."));
      if (!seen.insert(text).second) errors.push_back(field_duplicate(field, text));
    }
    if (seen.size() > max_selectable_fields)
      errors.push_back(field_too_many(path, static_cast<std::int64_t>(seen.size()), max_selectable_fields));
  }

  /// In a real server's internal type the webhook consists of two parts.
  void check_conversion() {
    const Json* conversion = spec_.find("conversion");
    if (conversion == nullptr || !conversion->is_object()) return;
    const std::string path = "spec.conversion.", strategy = (*conversion)["strategy"].string_or("");
    const Json& webhook = (*conversion)["webhook"];
    const Json& client = webhook["clientConfig"];
    const Json& reviews = webhook["conversionReviewVersions"];
    if (strategy.empty())
      errors.push_back(field_required(path + "strategy"));
    else if (strategy != "None" && strategy != "Webhook")
      errors.push_back(field_not_supported(path + "strategy", strategy, {Json("None"), Json("Webhook")}));
    if (strategy != "None" && spec_["preserveUnknownFields"].bool_or(false))
      errors.push_back(
          field_invalid(path + "strategy", strategy, "must be None if spec.preserveUnknownFields is true"));
    if (strategy == "Webhook") {
      check_client(client, path + "webhookClientConfig");
      check_reviews(reviews, path + "conversionReviewVersions");
      return;
    }
    constexpr std::string_view why = "should not be set when strategy is not set to Webhook";
    if (client.is_object()) errors.push_back(field_forbidden(path + "webhookClientConfig", why));
    if (!reviews.empty()) errors.push_back(field_forbidden(path + "conversionReviewVersions", why));
  }

  void check_client(const Json& client, const std::string& path) {
    if (!client.is_object())
      return errors.push_back(field_required(path, "required when strategy is set to Webhook"));
    check_webhook_client(client, path, errors);
  }

  /// Once established, a bundle that could be read must not become one that cannot.
  void check_bundle(const Json& live) {
    const auto bundle = [](const Json& crd) -> const Json& {
      return crd.at({"spec", "conversion", "webhook", "clientConfig", "caBundle"});
    };
    if (!has_condition(live, "Established") || !ca_bundle_problem(bundle(live)).empty()) return;
    if (const std::string problem = ca_bundle_problem(bundle(crd_)); !problem.empty())
      errors.push_back(field_invalid("spec.conversion.webhookClientConfig.caBundle", bundle(crd_), problem));
  }

  void check_reviews(const Json& reviews, const std::string& path) {
    if (reviews.empty()) return errors.push_back(field_required(path));
    bool known = false;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < reviews.size(); ++i) {
      const std::string review = reviews[i].string_or("");
      if (!seen.insert(review).second)
        errors.push_back(field_invalid(path + at(i), review, "duplicate version"));
      else
        check_label(path + at(i), reviews[i]);
      known = known || review == "v1" || review == "v1beta1";
    }
    if (!known) errors.push_back(field_invalid(path, reviews, "must include at least one of v1, v1beta1"));
  }

  void check_stored_versions() {
    const Json& stored = crd_.at({"status", "storedVersions"});
    if (stored.empty())
      return errors.push_back(
          field_invalid("status.storedVersions", Json(), "must have at least one stored version"));
    std::map<std::string, std::size_t> unknown;  // the names, each of which stands for one version
    for (std::size_t i = 0; i < stored.size(); ++i) unknown[stored[i].string_or("")] = i;
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const std::string name = versions_[i]["name"].string_or("");
      if (unknown.erase(name) == 0 && versions_[i]["storage"].bool_or(false))
        errors.push_back(
            field_invalid("status.storedVersions", stored, "must have the storage version " + name));
    }
    for (const auto& [name, i] : unknown)
      errors.push_back(
          field_invalid("status.storedVersions" + at(i), name,
                        "missing from spec.versions; " + name +
                            " was previously a storage version, and must remain in spec.versions "
                            "until a storage migration ensures no data remains persisted in " +
                            name + " and removes " + name + " from status.storedVersions"));
  }

  void check_approval(const Json& live) {
    const std::optional<Approval> approval = approval_of(crd_);
    if (!approval) return;
    const std::optional<Approval> before = live.is_null() ? std::nullopt : approval_of(live);
    if (before && before->reason == approval->reason) return;
    const std::string field = "metadata.annotations[" + std::string(approval_annotation) + "]";
    if (approval->reason == "MissingAnnotation") errors.push_back(field_required(field, approval->message));
    if (approval->reason == "InvalidAnnotation")
      errors.push_back(
          field_invalid(field, crd_["metadata"]["annotations"][approval_annotation], approval->message));
  }

  void check_unchanged(const Json& live) {
    const auto fixed = [&](const char* outer, const char* inner) {
      const Json& now = inner == nullptr ? spec_[outer] : spec_[outer][inner];
      const Json& before = inner == nullptr ? live["spec"][outer] : live["spec"][outer][inner];
      const std::string field =
          "spec." + std::string(outer) + (inner == nullptr ? "" : "." + std::string(inner));
      if (now != before) errors.push_back(field_invalid(field, now, "field is immutable"));
    };
    if (has_condition(live, "Established")) fixed("scope", nullptr), fixed("names", "kind");
    fixed("group", nullptr);
    fixed("names", "plural");
  }

  const Json& crd_;
  const Json& spec_;
  const Json& versions_;
};

}  // namespace

FieldErrors check_crd(const Json& crd, const Json& live) {
  CrdCheck check(crd);
  check.run(live);
  return std::move(check.errors);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
