// SPDX-License-Identifier: Apache-2.0
// Validation of volumes, claims and classes; ConfigMaps and Secrets. Source: kubernetes
// pkg/apis/{core,storage}/validation.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/quantity.hpp>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/json_problem.hpp"
#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
namespace {

namespace ascii = evenkeel::detail::ascii;

constexpr std::string_view frozen_text = "field is immutable when `immutable` is set";
constexpr std::string_view config_key_text =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const Json::Array& access_modes() {
  static const Json::Array modes = {Json("ReadOnlyMany"), Json("ReadWriteMany"), Json("ReadWriteOnce"),
                                    Json("ReadWriteOncePod")};
  return modes;
}

void check_modes(const Json& modes, std::string_view missing, const std::string& field, Errors& errors) {
  if (is_empty(modes)) errors.push_back(field_required(field, missing));
  bool single = false;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    check_one_of(modes[i], field, access_modes(), errors);
    single = single || modes[i] == Json("ReadWriteOncePod");
  }
  if (single && modes.size() > 1)
    errors.push_back(field_forbidden(field, "may not use ReadWriteOncePod with other access modes"));
}

bool is_config_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

void check_keys(const Json& map, const std::string& path, Errors& errors) {
  if (!map.is_object()) return;
  for (const auto& [name, value] : map.as_object()) check_config_key(name, path + "[" + name + "]", errors);
}

constexpr std::size_t max_data_bytes = 1024 * 1024;  // core.MaxSecretSize

/// Returns the number of bytes of all values of a map.
std::size_t plain_bytes(const Json& map) {
  std::size_t total = 0;
  if (map.is_object())
    for (const auto& [name, value] : map.as_object())
      total += value.is_string() ? value.as_string().size() : 0;
  return total;
}

/// Returns the decoded size of the base64 values of a map.
std::size_t decoded_bytes(const Json& map) {
  std::size_t total = 0;
  if (!map.is_object()) return total;
  for (const auto& [name, value] : map.as_object()) {
    const std::string text = value.string_or("");
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    total += text.size() < 4 ? 0 : text.size() / 4 * 3 - padding;
  }
  return total;
}

void check_frozen(const Json& object, const Json& old, std::initializer_list<const char*> names,
                  Errors& errors) {
  if (old.is_null() || !old["immutable"].bool_or(false)) return;
  if (!object["immutable"].bool_or(false)) errors.push_back(field_forbidden("immutable", frozen_text));
  for (const char* name : names)
    if (object[name] != old[name]) errors.push_back(field_forbidden(name, frozen_text));
}

struct SecretType {
  std::string_view type;
  std::array<std::string_view, 2> keys;
};
constexpr std::array secret_types{
    SecretType{"kubernetes.io/tls", {"tls.crt", "tls.key"}},
    SecretType{"kubernetes.io/dockerconfigjson", {".dockerconfigjson", ""}},
    SecretType{"kubernetes.io/dockercfg", {".dockercfg", ""}},
};

std::string key_field(std::string_view key) {
  return "data[" + std::string(key) + "]";
}

void check_json_key(const Json& data, std::string_view key, Errors& errors) {
  const auto text = Bytes::from_base64(data[key].string_or(""));
  const std::string problem = text ? json_problem(text->value()) : "";
  if (!problem.empty())
    errors.push_back(field_invalid(key_field(key), Json("<secret contents redacted>"), problem));
}

void check_secret_type(const Json& object, Errors& errors) {
  const std::string type = object["type"].string_or("");
  const Json& data = object["data"];
  for (const SecretType& known : secret_types) {
    if (known.type != type) continue;
    for (const std::string_view key : known.keys) {
      if (key.empty()) continue;
      if (!data.contains(key))
        errors.push_back(field_required(key_field(key)));
      else if (key.starts_with(".docker"))
        check_json_key(data, key, errors);
    }
  }
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") && !data.contains("password"))
    for (const char* key : {"username", "password"}) errors.push_back(field_required(key_field(key)));
  if (type == "kubernetes.io/ssh-auth" && is_empty(data["ssh-privatekey"]))
    errors.push_back(field_required(key_field("ssh-privatekey")));
  const std::string account = "kubernetes.io/service-account.name";
  if (type == "kubernetes.io/service-account-token" &&
      is_empty(object.at({"metadata", "annotations"})[account]))
    errors.push_back(field_required("metadata.annotations[" + account + "]"));
}

/// A source of a PersistentVolume: its required members, and its name in errors.
struct VolumeSource {
  std::string_view name;
  std::array<std::string_view, 2> needs = {};
  std::string_view printed = "";
};
constexpr std::array volume_sources{
    VolumeSource{"awsElasticBlockStore", {"volumeID"}},
    VolumeSource{"azureDisk", {"diskName", "diskURI"}},
    VolumeSource{"azureFile", {"secretName", "shareName"}},
    VolumeSource{"cephfs", {"monitors"}},
    VolumeSource{"cinder", {"volumeID"}},
    VolumeSource{"csi", {"driver", "volumeHandle"}},
    VolumeSource{"fc"},
    VolumeSource{"flexVolume", {"driver"}},
    VolumeSource{"flocker"},
    VolumeSource{"gcePersistentDisk", {"pdName"}, "persistentDisk"},
    VolumeSource{"glusterfs", {"endpoints", "path"}},
    VolumeSource{"hostPath", {"path"}},
    VolumeSource{"iscsi", {"targetPortal", "iqn"}},
    VolumeSource{"local", {"path"}},
    VolumeSource{"nfs", {"server", "path"}},
    VolumeSource{"photonPersistentDisk", {"pdID"}},
    VolumeSource{"portworxVolume", {"volumeID"}},
    VolumeSource{"quobyte", {"registry", "volume"}},
    VolumeSource{"rbd", {"monitors", "image"}},
    VolumeSource{"scaleIO", {"gateway", "system"}},
    VolumeSource{"storageos", {"volumeName"}},
    VolumeSource{"vsphereVolume", {"volumePath"}},
};

void check_volume_sources(const Json& spec, Errors& errors) {
  bool found = false;
  for (const VolumeSource& source : volume_sources) {
    const Json& place = spec[source.name];
    if (!place.is_object()) continue;
    const std::string here = "spec." + std::string(source.printed.empty() ? source.name : source.printed);
    if (found) errors.push_back(field_forbidden(here, "may not specify more than 1 volume type"));
    if (std::exchange(found, true)) continue;
    for (const std::string_view need : source.needs)
      if (!need.empty() && is_empty(place[need]))
        errors.push_back(field_required(here + "." + std::string(need)));
    if (source.name == "nfs" && !place["path"].string_or("").starts_with('/'))
      errors.push_back(
          field_invalid(here + ".path", Json(place["path"].string_or("")), "must be an absolute path"));
    if (source.name == "hostPath") check_no_backsteps(place["path"], here + ".path", errors);
    if (source.name == "csi" && !is_empty(place["driver"]))
      add_all(here + ".driver", place["driver"].string_or(""),
              name_problems(ascii::lower(place["driver"].string_or("")), NameRule::dns_subdomain), errors);
  }
  if (!found) errors.push_back(field_required("spec", "must specify a volume type"));
}

/// Rejects changes of a claim except those of an empty volumeName and of the storage request of a bound
/// claim.
/// Source: kubernetes core validation ValidatePersistentVolumeClaimUpdate.
void check_claim_update(const Json& object, const Json& old, Errors& errors) {
  Json now = object["spec"];
  Json before = old["spec"];
  if (is_empty(std::as_const(before)["volumeName"])) now.erase("volumeName"), before.erase("volumeName");
  if (std::as_const(before)["storageClassName"].is_null()) now.erase("storageClassName");
  for (Json* spec : {&now, &before}) {
    spec->erase("volumeAttributesClassName");
    if (object["status"]["phase"] != Json("Bound")) continue;
    if (Json* resources = spec->find("resources"))
      if (Json* requests = resources->find("requests"); requests != nullptr && requests->is_object())
        requests->erase("storage");
  }
  if (now != before)
    errors.push_back(field_forbidden("spec",
                                     "spec is immutable after creation except resources.requests and "
                                     "volumeAttributesClassName for bound claims"));
  const auto storage = [](const Json& amounts) {
    return Quantity::parse(amounts["storage"].string_or("0")).value_or(Quantity());
  };
  const Quantity size = storage(object.at({"spec", "resources", "requests"}));
  if (size < storage(old.at({"spec", "resources", "requests"})) &&
      size <= storage(old.at({"status", "capacity"})))
    errors.push_back(
        field_forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"));
  check_immutable(object["spec"]["volumeMode"], old["spec"]["volumeMode"], "volumeMode", errors);
}

/// Source: kubernetes core validation ValidateTopologySelectorTerm; storage validation
/// validateAllowedTopologies, which takes empty terms for duplicates.
void check_topologies(const Json& terms, Errors& errors) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::string path = indexed("allowedTopologies", i) + ".matchLabelExpressions";
    const Json& rules = terms[i]["matchLabelExpressions"];
    bool repeated = is_empty(rules);
    for (std::size_t j = 0; j < i; ++j) repeated = repeated || terms[j] == terms[i];
    for (std::size_t j = 0; j < rules.size(); ++j) {
      const std::string here = indexed(path, j);
      const std::string key = rules[j]["key"].string_or("");
      if (is_empty(rules[j]["values"])) errors.push_back(field_required(here + ".values"));
      add_all(here + ".key", key, qualified_name_problems(key), errors);
    }
    if (repeated) errors.push_back(field_duplicate(path, Json("")));
  }
}

/// Checks an object from which a claim is filled. Source: kubernetes core validation validateDataSource.
void check_data_source(const Json& source, const std::string& here, Errors& errors) {
  if (!source.is_object()) return;
  const std::string kind = source["kind"].string_or("");
  const std::string group = source["apiGroup"].string_or("");
  if (is_empty(source["name"])) errors.push_back(field_required(here + ".name"));
  if (kind.empty()) errors.push_back(field_required(here + ".kind"));
  if (!group.empty()) return check_subdomain(group, here + ".apiGroup", errors);
  if (kind != "PersistentVolumeClaim")
    errors.push_back(
        field_invalid(here, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
}

}  // namespace

void check_config_key(const std::string& key, const std::string& field, Errors& errors) {
  const auto refuse = [&](std::string_view problem) { errors.push_back(field_invalid(field, key, problem)); };
  if (key.size() > 253) refuse("must be no more than 253 characters");
  if (key.empty() || !std::all_of(key.begin(), key.end(), is_config_character)) refuse(config_key_text);
  if (key == ".")
    refuse("must not be '.'");
  else if (key == "..")
    refuse("must not be '..'");
  else if (key.starts_with(".."))
    refuse("must not start with '..'");
}

void check_storage_class(const Json& object, const Json& old, Errors& errors) {
  const std::string provisioner = object["provisioner"].string_or("");
  if (provisioner.empty()) {
    errors.push_back(field_required("provisioner"));
  } else {
    const std::string lower = ascii::lower(provisioner);
    add_all("provisioner", lower, qualified_name_problems(lower), errors);
  }
  if (!is_empty(object["reclaimPolicy"]))
    check_one_of(object["reclaimPolicy"], "reclaimPolicy", {Json("Delete"), Json("Retain")}, errors);
  check_topologies(object["allowedTopologies"], errors);
  if (old.is_null()) return;
  for (const char* name : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"})
    check_immutable(object[name], old[name], name, errors);
}

void check_claim_spec(const Json& spec, const std::string& path, Errors& errors) {
  check_modes(spec["accessModes"], "at least 1 access mode is required", path + ".accessModes", errors);
  const Errors selector = selector_problems(spec["selector"], path + ".selector");
  errors.insert(errors.end(), selector.begin(), selector.end());
  const Json& storage = spec.at({"resources", "requests", "storage"});
  const std::string field = path + ".resources[storage]";
  if (is_empty(storage))
    errors.push_back(field_required(field));
  else if (is_not_positive(storage))
    errors.push_back(field_invalid(field, storage, "must be greater than zero"));
  if (const Json& name = spec["storageClassName"]; !is_empty(name))
    check_subdomain(name.as_string(), path + ".storageClassName", errors);
  for (const char* name : {"dataSource", "dataSourceRef"})
    check_data_source(spec[name], path + "." + name, errors);
}

void check_claim(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  check_claim_spec(spec, "spec", errors);
  if (!old.is_null()) check_claim_update(object, old, errors);
}

void check_volume(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  check_modes(spec["accessModes"], "", "spec.accessModes", errors);
  if (is_empty(spec["capacity"])) errors.push_back(field_required("spec.capacity"));
  if (!spec["capacity"].contains("storage") || spec["capacity"].size() > 1)
    errors.push_back(field_not_supported(
        "spec.capacity", spec["capacity"].is_null() ? Json::object() : spec["capacity"], {Json("storage")}));
  if (spec["capacity"].is_object())
    for (const auto& [name, amount] : spec["capacity"].as_object())
      if (is_not_positive(amount))
        errors.push_back(field_invalid("spec.capacity[" + name + "]", amount, "must be greater than zero"));
  check_volume_sources(spec, errors);
  if (const Json& affinity = spec["nodeAffinity"]; affinity.is_object()) {
    if (affinity["required"].is_object())
      check_node_selector(affinity["required"], "spec.nodeAffinity.required", errors);
    else
      errors.push_back(
          field_required("spec.nodeAffinity.required", "must specify required node constraints"));
  } else if (spec["local"].is_object()) {
    errors.push_back(field_required("spec.nodeAffinity", "Local volume requires node affinity"));
  }
  if (const std::string name = spec["storageClassName"].string_or(""); !name.empty())
    check_subdomain(name, "spec.storageClassName", errors);
  if (old.is_null()) return;
  for (const VolumeSource& source : volume_sources)
    if (spec[source.name] != old["spec"][source.name]) {
      errors.push_back(field_forbidden("spec.persistentvolumesource",
                                       "spec.persistentvolumesource is immutable after creation"));
      break;
    }
  check_immutable(spec["volumeMode"], old["spec"]["volumeMode"], "volumeMode", errors);
  if (old["spec"]["nodeAffinity"].is_object() && spec["nodeAffinity"] != old["spec"]["nodeAffinity"])
    errors.push_back(field_invalid("nodeAffinity", spec["nodeAffinity"],
                                   "field is immutable, except for updating from beta label to GA"));
}

void check_csi_driver(const Json& object, const Json& old, Errors& errors) {
  static const Json::Array policies = {Json("File"), Json("None"), Json("ReadWriteOnceWithFSType")};
  static const Json::Array modes = {Json("Persistent"), Json("Ephemeral")};
  const Json& spec = object["spec"];
  check_one_of(spec["fsGroupPolicy"], "spec.fsGroupPolicy", policies, errors);
  for (std::size_t i = 0; i < spec["tokenRequests"].size(); ++i) {
    const Json& seconds = spec["tokenRequests"][i]["expirationSeconds"];
    if (seconds.integer_or(600) < 600)
      errors.push_back(field_invalid(indexed("spec.tokenRequests", i) + ".expirationSeconds", seconds,
                                     "may not specify a duration less than 10 minutes"));
  }
  for (std::size_t i = 0; i < spec["volumeLifecycleModes"].size(); ++i)
    check_one_of(spec["volumeLifecycleModes"][i], "spec.volumeLifecycleModes", modes, errors);
  if (old.is_null()) return;
  check_immutable(spec["attachRequired"], old["spec"]["attachRequired"], "spec.attachedRequired", errors);
  check_immutable(spec["volumeLifecycleModes"], old["spec"]["volumeLifecycleModes"],
                  "spec.volumeLifecycleModes", errors);
}

void check_config_map(const Json& object, const Json& old, Errors& errors) {
  check_keys(object["data"], "data", errors);
  check_keys(object["binaryData"], "binaryData", errors);
  if (object["data"].is_object())
    for (const auto& [key, value] : object["data"].as_object())
      if (object["binaryData"].contains(key))
        errors.push_back(field_invalid(key_field(key), key, "duplicate of key present in binaryData"));
  if (plain_bytes(object["data"]) + decoded_bytes(object["binaryData"]) > max_data_bytes)
    errors.push_back(field_too_long("[]", max_data_bytes));
  check_frozen(object, old, {"data", "binaryData"}, errors);
}

void check_secret(const Json& object, const Json& old, Errors& errors) {
  check_keys(object["data"], "data", errors);
  if (decoded_bytes(object["data"]) > max_data_bytes)
    errors.push_back(field_too_long("data", max_data_bytes));
  check_secret_type(object, errors);
  if (!old.is_null()) check_immutable(object["type"], old["type"], "type", errors);
  check_frozen(object, old, {"data"}, errors);
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
