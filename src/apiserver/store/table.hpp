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

/// A column, and for custom kinds where its cell comes from.
struct TableColumn {
  std::string name = {};
  std::string type = "string";
  std::string format = {};
  std::string description = {};
  std::int64_t priority = 0;
  std::string json_path = {};  ///< Custom kinds: ".spec.size".
};

using TableCells = Json::Array (*)(const Json& object, WallTime now);

/// How objects of one resource become rows. Immutable.
struct TableShape {
  std::vector<TableColumn> columns = {};
  TableCells cells = nullptr;  ///< Built-in kinds with cells of their own.
};

/// Rows of a built-in resource: ("v1", "pods"). Unknown resources get Name and Created At.
std::shared_ptr<const TableShape> builtin_table(BuiltinData& data, std::string_view api_version,
                                                std::string_view resource);
/// Rows of a custom kind by additionalPrinterColumns; Name and Age where there are none.
std::shared_ptr<const TableShape> custom_table(const CustomKind& kind);

/// What a row carries beside its cells: `includeObject` of the request.
enum class IncludeObject : std::uint8_t { metadata, none, object };
enum class TableHeader : bool { without_columns, with_columns };

/// The Table of `objects`. `list_metadata` is the metadata of the list (resourceVersion, continue,
/// remainingItemCount), or of the single object only resourceVersion. `api_version` is "meta.k8s.io/v1" or
/// "meta.k8s.io/v1beta1". In watches only the first event has columns.
Json make_table(const TableShape& shape, std::span<const Json* const> objects, Json list_metadata,
                IncludeObject include, WallTime now, TableHeader header = TableHeader::with_columns,
                std::string_view api_version = "meta.k8s.io/v1");

/// {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": ...}.
Json partial_metadata(const Json& object, std::string_view api_version = "meta.k8s.io/v1");

/// "5s", "3m12s", "47h", "2y15d": how kubectl shows a length of time; "<invalid>" below -1 s.
/// Source: apimachinery pkg/util/duration HumanDuration.
std::string human_duration(std::chrono::seconds length);
/// The age of an RFC 3339 timestamp; "<unknown>" if absent.
std::string age(const Json& timestamp, WallTime now);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
