// SPDX-License-Identifier: Apache-2.0
// meta.k8s.io/v1 Tables: the rows that kubectl get prints.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A column, and for custom kinds the path of its cells.
struct TableColumn {
  std::string name = {};
  std::string type = "string";
  std::string format = {};
  std::string description = {};
  std::int64_t priority = 0;
  std::string json_path = {};  ///< Custom kinds: ".spec.size".
};

using TableCells = Json::Array (*)(const Json& object, WallTime now);

/// Converts the objects of one resource to rows. Immutable.
struct TableShape {
  std::vector<TableColumn> columns = {};
  TableCells cells = nullptr;  ///< Function that makes the cells of a built-in kind.
};

/// Returns the rows of a built-in resource: ("v1", "pods"). Unknown resources have Name and Created At.
std::shared_ptr<const TableShape> builtin_table(BuiltinData& data, std::string_view api_version,
                                                std::string_view resource);
/// Returns the rows of a custom kind by additionalPrinterColumns; Name and Age if there are none.
std::shared_ptr<const TableShape> custom_table(const CustomKind& kind);

/// The object in a row: `includeObject` of the request.
enum class IncludeObject : std::uint8_t { metadata, none, object };
enum class TableHeader : bool { without_columns, with_columns };

/// Returns the Table of `objects`. `list_metadata` is the metadata of the list (resourceVersion, continue,
/// remainingItemCount), or only the resourceVersion of a single object. `api_version` is "meta.k8s.io/v1" or
/// "meta.k8s.io/v1beta1". In watches only the first event has columns.
Json make_table(const TableShape& shape, std::span<const Json* const> objects, Json list_metadata,
                IncludeObject include, WallTime now, TableHeader header = TableHeader::with_columns,
                std::string_view api_version = "meta.k8s.io/v1");

/// Returns {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": ...}.
Json partial_metadata(const Json& object, std::string_view api_version = "meta.k8s.io/v1");

/// Formats a duration as kubectl does: "5s", "3m12s", "47h", "2y15d"; "<invalid>" below -1 s.
/// Source: apimachinery pkg/util/duration HumanDuration.
std::string human_duration(std::chrono::seconds length);
/// Returns the age of an RFC 3339 timestamp; "<unknown>" if absent.
std::string age(const Json& timestamp, WallTime now);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
