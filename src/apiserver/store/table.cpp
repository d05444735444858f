// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/table.hpp"

#include <utility>

#include "apiserver/schema/cel_time.hpp"
#include "apiserver/store/table_cells.hpp"
#include "apiserver/text/json_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

Json definition(const TableColumn& column) {
  return Json::object({{"name", column.name},
                       {"type", column.type},
                       {"format", column.format},
                       {"description", column.description},
                       {"priority", column.priority}});
}

/// Formats a value like Go's %v, with JSON for objects and lists.
std::string as_text(const Json& value) {
  return value.is_string() ? value.as_string() : value.dump();
}

/// Returns one cell of a custom kind. A value whose type differs from the column's is left out.
Json cell_of(const TableColumn& column, const Json& object, WallTime now) {
  const std::vector<const Json*> found = find_path(object, column.json_path);
  if (found.empty()) return {};
  const Json& value = *found.front();
  if (column.type == "string") return value.is_null() ? Json() : Json(as_text(value));
  if (column.type == "date")
    return value.is_string() ? Json(parse_timestamp(value.as_string()) ? age(value, now) : "<invalid>")
                             : Json();
  if (column.type == "integer" && value.is_number())
    return value.is_integer() ? value : Json(static_cast<std::int64_t>(value.as_number()));
  if (column.type == "number" && value.is_number()) return Json(value.as_number());
  if (column.type == "boolean" && value.is_bool()) return value;
  return {};
}

/// Returns the cells by path, or by name for columns that every kind has.
Json::Array cells_by_column(const TableShape& shape, const Json& object, WallTime now) {
  Json::Array cells;
  for (const TableColumn& column : shape.columns) {
    if (!column.json_path.empty())
      cells.push_back(cell_of(column, object, now));
    else if (column.name == "Name")
      cells.push_back(object.at({"metadata", "name"}).string_or(""));
    else if (column.name == "Age")
      cells.emplace_back(age(object.at({"metadata", "creationTimestamp"}), now));
    else if (column.name == "Created At")
      cells.push_back(object.at({"metadata", "creationTimestamp"}));
    else
      cells.emplace_back();
  }
  return cells;
}

constexpr std::string_view name_description =
    "Name must be unique within a namespace. Is required when creating resources, although some resources "
    "may allow a client to request the generation of an appropriate name automatically. Name is primarily "
    "intended for creation idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
constexpr std::string_view creation_description =
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
    "guaranteed to be set in happens-before order across separate operations. Clients may not set this "
    "value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for "
    "lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
    "#metadata";

/// Returns the description of a column that shows metadata; empty for others.
std::string_view description_of(std::string_view column) {
  if (column == "Name") return name_description;
  return column == "Age" || column == "Created At" ? creation_description : "";
}

TableColumn age_column() {
  return {.name = "Age",
          .type = "date",
          .description = std::string(creation_description),
          .json_path = ".metadata.creationTimestamp"};
}

TableColumn name_column() {
  return {.name = "Name", .format = "name", .description = std::string(name_description)};
}

}  // namespace

std::shared_ptr<const TableShape> builtin_table(BuiltinData& data, std::string_view api_version,
                                                std::string_view resource) {
  auto shape = std::make_shared<TableShape>();
  const Json& columns = data.table_columns(api_version, resource);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = columns[i][std::size_t{0}].string_or("");
    shape->columns.push_back(
        {.name = name,
         .type = columns[i][1].string_or("string"),
         .format = columns[i][2].string_or(""),
         .description = columns[i][std::size_t{4}].string_or(std::string(description_of(name))),
         .priority = columns[i][3].integer_or(0)});
  }
  if (shape->columns.empty()) {
    shape->columns.push_back(name_column());
    TableColumn created = age_column();
    created.name = "Created At";
    created.json_path.clear();
    shape->columns.push_back(std::move(created));
  }
  shape->cells = builtin_cells(resource);
  return shape;
}

std::shared_ptr<const TableShape> custom_table(const CustomKind& kind) {
  auto shape = std::make_shared<TableShape>();
  shape->columns.push_back(name_column());
  if (kind.columns.empty()) shape->columns.push_back(age_column());
  for (std::size_t i = 0; i < kind.columns.size(); ++i) {
    const Json& column = kind.columns[i];
    const std::string path = column["jsonPath"].string_or("");
    shape->columns.push_back({.name = column["name"].string_or(""),
                              .type = column["type"].string_or("string"),
                              .format = column["format"].string_or(""),
                              .description = column["description"].string_or(
                                  "Custom resource definition column (in JSONPath format): " + path),
                              .priority = column["priority"].integer_or(0),
                              .json_path = path});
  }
  return shape;
}

Json make_table(const TableShape& shape, std::span<const Json* const> objects, Json list_metadata,
                IncludeObject include, WallTime now, TableHeader header, std::string_view api_version) {
  Json table = Json::object({{"kind", "Table"},
                             {"apiVersion", api_version},
                             {"metadata", std::move(list_metadata)},
                             {"columnDefinitions", Json()},
                             {"rows", Json::array()}});
  if (header == TableHeader::with_columns) {
    Json::Array definitions;
    for (const TableColumn& column : shape.columns) definitions.push_back(definition(column));
    table["columnDefinitions"] = std::move(definitions);
  }
  Json& rows = table["rows"];
  for (const Json* object : objects) {
    Json::Array cells =
        shape.cells != nullptr ? shape.cells(*object, now) : cells_by_column(shape, *object, now);
    cells.resize(shape.columns.size());
    Json row = Json::object({{"cells", std::move(cells)}});
    if (include == IncludeObject::object) row["object"] = *object;
    if (include == IncludeObject::metadata) row["object"] = partial_metadata(*object, api_version);
    if (include == IncludeObject::none) row["object"] = Json();
    rows.push_back(std::move(row));
  }
  return table;
}

Json partial_metadata(const Json& object, std::string_view api_version) {
  return Json::object(
      {{"kind", "PartialObjectMetadata"}, {"apiVersion", api_version}, {"metadata", object["metadata"]}});
}

std::string human_duration(std::chrono::seconds length) {
  const std::int64_t seconds = length.count();
  const auto both = [](std::int64_t large, const char* unit, std::int64_t small, const char* small_unit) {
    return std::to_string(large) + unit + (small == 0 ? "" : std::to_string(small) + small_unit);
  };
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return both(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = seconds / 3600;
  if (hours < 8) return both(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (hours < 24 * 8) return both(days, "d", hours % 24, "h");
  if (days < 365 * 2) return std::to_string(days) + "d";
  if (days < 365 * 8) return both(days / 365, "y", days % 365, "d");
  return std::to_string(days / 365) + "y";
}

std::string age(const Json& timestamp, WallTime now) {
  if (!timestamp.is_string()) return "<unknown>";
  const auto since = parse_timestamp(timestamp.as_string());
  if (!since) return "<unknown>";
  const auto length = now - WallTime(std::chrono::microseconds(*since / 1000));
  return human_duration(std::chrono::duration_cast<std::chrono::seconds>(length));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
