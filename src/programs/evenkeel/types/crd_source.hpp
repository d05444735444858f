// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions read from YAML: names, and the schema of one version.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel::program {

struct CrdColumn {
  std::string name = {};
  std::string type = {};
  std::string json_path = {};
  std::string description = {};
  std::string format = {};
  std::int64_t priority = 0;
};

struct CrdScale {
  std::string spec_replicas_path = {};
  std::string status_replicas_path = {};
  std::string label_selector_path = {};
};

/// One version of a definition.
struct CrdSource {
  std::string where = {};        ///< File and document, for errors: "crd.yaml: document 2".
  std::string schema_path = {};  ///< "spec.versions[0].schema.openAPIV3Schema".
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  std::string plural = {};
  bool is_cluster_wide = false;
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  std::vector<CrdColumn> columns = {};
  std::optional<CrdScale> scale = {};
  bool has_status = false;        ///< The version has the status subresource.
  std::string api_approved = {};  ///< Annotation api-approved.kubernetes.io.
  Json schema = {};
  std::vector<std::string> lost = {};  ///< Parts beside the schema that described structs cannot say.
};

struct CrdSelection {
  std::string version = {};  ///< Empty: the version that is stored.
  std::string kind = {};     ///< Empty: all kinds.
};

/// Returns the selected definitions in `text`, one or more YAML documents; documents of other kinds are
/// skipped. Throws DecodeError, which names `file`, document and field, for what is not YAML or not a
/// definition that an API server would take, and if nothing is selected.
std::vector<CrdSource> read_crds(std::string_view text, const std::string& file,
                                 const CrdSelection& selection);

}  // namespace evenkeel::program
