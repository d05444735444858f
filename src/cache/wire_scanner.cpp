// SPDX-License-Identifier: Apache-2.0
// Reads metadata with simdjson's on-demand parser, which skips unused values, and builds the block.
#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include <simdjson.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/cache/wire_object.hpp>

#include "base/json_scan.hpp"
#include "cache/projected_parts.hpp"
#include "cache/wire_block.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A string of the document: a view of the document, or of working memory if it had escapes.
struct Found {
  std::string_view text = {};
  bool verbatim = false;
};

struct FoundPair {
  Found name;
  Found value;
};

struct FoundOwner {
  Found api_version, kind, name, uid;
  bool controller = false;
};

/// The range [first, last) of the document that is left out.
struct Cut {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t bytes = 0;  // of this cut and those before it
};

/// The metadata of one object, before the block is built. Reused, so that its vectors keep their memory.
struct FoundObject {
  std::string_view document = {};
  Found api_version, kind, namespace_, name, uid, resource_version;
  std::int64_t generation = 0;
  bool being_deleted = false;
  std::vector<FoundPair> labels;
  std::vector<FoundPair> annotations;
  std::vector<FoundOwner> owners;
  std::vector<Cut> cuts;  // in the order of the document
  bool has_metadata = false;
  bool has_managed_fields = false;

  void clear() {
    document = {};
    api_version = kind = namespace_ = name = uid = resource_version = {};
    generation = 0;
    being_deleted = false;
    labels.clear();
    annotations.clear();
    owners.clear();
    cuts.clear();
    has_metadata = has_managed_fields = false;
  }
  /// Returns the bytes that are left out before `at`.
  std::size_t cut_before(std::size_t at) const {
    const auto after = std::upper_bound(cuts.begin(), cuts.end(), at,
                                        [](std::size_t place, const Cut& cut) { return place < cut.last; });
    return after == cuts.begin() ? 0 : std::prev(after)->bytes;
  }
};

/// Writes a FoundObject into one block: measures first, then writes.
struct WireBuilder {
  const FoundObject& from;
  bool has_json;
  const ProjectedParts* projected;  // null: all parts
  std::string_view stamp;           // members inserted after the document's first brace
  std::size_t text_at = 0;
  std::size_t raw_at = 0;
  WireBlock* block = nullptr;

  WireObject build() {
    std::size_t tables = sizeof(WireBlock);
    tables += (from.labels.size() + from.annotations.size()) * sizeof(WirePairPlaces);
    tables += from.owners.size() * sizeof(WireOwnerPlaces);
    std::size_t texts = 0;
    each_text([&texts, this](const Found& found) { texts += stands_in_raw(found) ? 0 : found.text.size(); });
    std::size_t raw_size = 0;
    if (has_json) raw_size = from.document.size() + stamp.size() - from.cut_before(from.document.size());
    const std::size_t bytes = tables + texts + raw_size;
    if (bytes > std::numeric_limits<std::uint32_t>::max()) throw DecodeError("", "the object is too large");
    text_at = tables;
    raw_at = tables + texts;
    block = new (::operator new(bytes)) WireBlock;
    block->bytes = static_cast<std::uint32_t>(bytes);
    write_header(raw_size);
    write_tables();
    return WireObject(block);
  }

 private:
  bool stands_in_raw(const Found& found) const { return has_json && found.verbatim; }

  template <class Use>
  void each_text(Use use) const {
    for (const Found* found :
         {&from.api_version, &from.kind, &from.namespace_, &from.name, &from.uid, &from.resource_version})
      use(*found);
    for (const auto* pairs : {&from.labels, &from.annotations}) {
      for (const FoundPair& pair : *pairs) {
        use(pair.name);
        use(pair.value);
      }
    }
    for (const FoundOwner& owner : from.owners) {
      for (const Found* found : {&owner.api_version, &owner.kind, &owner.name, &owner.uid}) use(*found);
    }
  }

  char* base() const { return reinterpret_cast<char*>(block); }

  WirePlace place(const Found& found) {
    const auto size = static_cast<std::uint32_t>(found.text.size());
    if (stands_in_raw(found)) {
      const auto at = static_cast<std::size_t>(found.text.data() - from.document.data());
      const std::size_t moved = raw_at + at + (at > 0 ? stamp.size() : 0) - from.cut_before(at);
      return {static_cast<std::uint32_t>(moved), size};
    }
    if (size == 0) return {};
    std::memcpy(base() + text_at, found.text.data(), size);
    const auto at = static_cast<std::uint32_t>(text_at);
    text_at += size;
    return {at, size};
  }

  void write_header(std::size_t raw_size) {
    block->generation = from.generation;
    block->being_deleted = from.being_deleted;
    block->has_json = has_json;
    block->is_projected = projected != nullptr;
    if (projected != nullptr) block->projected = projected;
    block->label_count = static_cast<std::uint32_t>(from.labels.size());
    block->annotation_count = static_cast<std::uint32_t>(from.annotations.size());
    block->owner_count = static_cast<std::uint32_t>(from.owners.size());
    block->api_version = place(from.api_version);
    block->kind = place(from.kind);
    block->namespace_ = place(from.namespace_);
    block->name = place(from.name);
    block->uid = place(from.uid);
    block->resource_version = place(from.resource_version);
    if (has_json) {
      block->raw = {static_cast<std::uint32_t>(raw_at), static_cast<std::uint32_t>(raw_size)};
      write_raw(base() + raw_at);
    }
  }

  void write_raw(char* to) const {
    const auto copy = [&to, this](std::size_t first, std::size_t last) {
      std::memcpy(to, from.document.data() + first, last - first);
      to += last - first;
    };
    copy(0, 1);
    std::memcpy(to, stamp.data(), stamp.size());
    to += stamp.size();
    std::size_t at = 1;
    for (const Cut& cut : from.cuts) {
      copy(at, cut.first);
      at = cut.last;
    }
    copy(at, from.document.size());
  }

  void write_tables() {
    auto* pair = const_cast<WirePairPlaces*>(block->pairs());
    for (const auto* pairs : {&from.labels, &from.annotations}) {
      for (const FoundPair& found : *pairs)
        new (pair++) WirePairPlaces{place(found.name), place(found.value)};
    }
    auto* owner = const_cast<WireOwnerPlaces*>(block->owners());
    for (const FoundOwner& found : from.owners) {
      new (owner++) WireOwnerPlaces{place(found.api_version), place(found.kind), place(found.name),
                                    place(found.uid), found.controller ? 1u : 0u};
    }
  }
};

}  // namespace detail

namespace {

namespace ondemand = simdjson::ondemand;
using detail::Found;
using detail::FoundObject;

/// A value of the wrong type; becomes a DecodeError once the object's name is known.
struct Problem {
  std::string path;
  std::string text;
};

const char* type_name(ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::array:
      return "array";
    case ondemand::json_type::object:
      return "object";
    case ondemand::json_type::number:
      return "number";
    case ondemand::json_type::string:
      return "string";
    case ondemand::json_type::boolean:
      return "boolean";
    case ondemand::json_type::null:
      return "null";
  }
  return "something else";
}

[[noreturn]] void wrong(const char* path, const char* expected, ondemand::json_type found) {
  throw Problem{path, std::string("expected ") + expected + ", found " + type_name(found)};
}

/// Returns false if the value is null; throws Problem if it is neither null nor of the wanted type.
bool is(ondemand::value& value, ondemand::json_type wanted, const char* path) {
  const ondemand::json_type type = value.type();
  if (type == wanted) return true;
  if (type != ondemand::json_type::null) wrong(path, type_name(wanted), type);
  return false;
}

ondemand::field field_of(simdjson::simdjson_result<ondemand::field> member) {
  ondemand::field field;
  if (const auto error = std::move(member).get(field); error != simdjson::SUCCESS)
    throw simdjson::simdjson_error(error);
  return field;
}

Found string_of(ondemand::value& value, const char* path) {
  if (!is(value, ondemand::json_type::string, path)) return {};
  std::string_view token = value.raw_json_token();
  while (detail::is_json_space(token.back())) token.remove_suffix(1);
  const std::size_t end = token.find_first_of("\"\\", 1);
  if (end == token.size() - 1 && token[end] == '"') return {token.substr(1, end - 1), true};
  if (end != std::string_view::npos && token[end] == '"')
    throw Problem{path, "not JSON: text after a string"};
  return {value.get_string().value(), false};
}

Found name_of(ondemand::field& field) {
  const char* const first = field.key().raw();
  const char* last = first;
  while (*last != '"' && *last != '\\') ++last;
  if (*last == '"') return {{first, static_cast<std::size_t>(last - first)}, true};
  return {field.unescaped_key().value(), false};
}

void read_pairs(ondemand::value& value, std::vector<detail::FoundPair>& into, const char* path) {
  into.clear();
  if (!is(value, ondemand::json_type::object, path)) return;
  for (auto member : value.get_object()) {
    ondemand::field field = field_of(member);
    const Found name = name_of(field);
    into.push_back({name, string_of(field.value(), path)});
  }
}

void read_owners(ondemand::value& value, std::vector<detail::FoundOwner>& into) {
  into.clear();
  const char* const path = "metadata.ownerReferences";
  if (!is(value, ondemand::json_type::array, path)) return;
  for (auto item : value.get_array()) {
    ondemand::value owner_value = item.value();
    if (!is(owner_value, ondemand::json_type::object, path)) continue;
    detail::FoundOwner& owner = into.emplace_back();
    for (auto member : owner_value.get_object()) {
      ondemand::field field = field_of(member);
      const Found name = name_of(field);
      ondemand::value& part = field.value();
      if (name.text == "apiVersion")
        owner.api_version = string_of(part, path);
      else if (name.text == "kind")
        owner.kind = string_of(part, path);
      else if (name.text == "name")
        owner.name = string_of(part, path);
      else if (name.text == "uid")
        owner.uid = string_of(part, path);
      else if (name.text == "controller" && is(part, ondemand::json_type::boolean, path))
        owner.controller = part.get_bool();
    }
  }
}

std::int64_t integer_of(ondemand::value& value, const char* path) {
  if (!is(value, ondemand::json_type::number, path)) return 0;
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS)
    throw Problem{path, "expected integer, found another number"};
  return number;
}

/// Marks `"name": value` for removal, with the comma that separates it from its neighbour. Members are marked
/// in the order of the document.
void cut_member(FoundObject& found, const char* name_text, ondemand::value& value) {
  const std::string_view text = simdjson::to_json_string(value).value();
  const char* const begin = found.document.data();
  auto first = static_cast<std::size_t>(name_text - 1 - begin);
  auto last = static_cast<std::size_t>(text.data() + text.size() - begin);
  while (detail::is_json_space(begin[last])) ++last;
  if (begin[last] == ',') ++last;
  const auto skip_space_back = [&] {
    while (detail::is_json_space(begin[first - 1])) --first;
  };
  skip_space_back();
  while (!found.cuts.empty() && found.cuts.back().last == first) {  // one range with the neighbour
    first = found.cuts.back().first;
    found.cuts.pop_back();
    skip_space_back();
  }
  if (begin[last - 1] != ',' && begin[first - 1] == ',') --first;
  const std::size_t before = found.cuts.empty() ? 0 : found.cuts.back().bytes;
  found.cuts.push_back({first, last, before + (last - first)});
}

/// Marks the members of an object that a projection does not select.
void cut_unselected(FoundObject& found, ondemand::value& value, const detail::ProjectedParts& selected) {
  if (value.type() != ondemand::json_type::object) return;  // the wrong type is for the reader to report
  for (auto member : value.get_object()) {
    ondemand::field field = field_of(member);
    const char* const raw_name = field.key().raw();
    const detail::ProjectedParts* const parts = selected.find(name_of(field).text);
    if (parts == nullptr)
      cut_member(found, raw_name, field.value());
    else if (!parts->whole)
      cut_unselected(found, field.value(), *parts);
  }
}

void read_metadata(ondemand::value& value, FoundObject& found) {
  if (std::exchange(found.has_metadata, true)) throw Problem{"metadata", "given twice"};
  if (!is(value, ondemand::json_type::object, "metadata")) return;
  for (auto member : value.get_object()) {
    ondemand::field field = field_of(member);
    const char* const raw_name = field.key().raw();
    const std::string_view name = name_of(field).text;
    ondemand::value& part = field.value();
    if (name == "name")
      found.name = string_of(part, "metadata.name");
    else if (name == "namespace")
      found.namespace_ = string_of(part, "metadata.namespace");
    else if (name == "uid")
      found.uid = string_of(part, "metadata.uid");
    else if (name == "resourceVersion")
      found.resource_version = string_of(part, "metadata.resourceVersion");
    else if (name == "generation")
      found.generation = integer_of(part, "metadata.generation");
    else if (name == "labels")
      read_pairs(part, found.labels, "metadata.labels");
    else if (name == "annotations")
      read_pairs(part, found.annotations, "metadata.annotations");
    else if (name == "ownerReferences")
      read_owners(part, found.owners);
    else if (name == "deletionTimestamp")
      found.being_deleted = is(part, ondemand::json_type::string, "metadata.deletionTimestamp");
    else if (name == "managedFields") {
      if (std::exchange(found.has_managed_fields, true))
        throw Problem{"metadata.managedFields", "given twice"};
      cut_member(found, raw_name, part);
    }
  }
}

/// Extracts a malformed object's name as far as possible, for the error text.
std::string known_name(std::string_view text, std::string_view kind) {
  const auto member = [text](std::string_view quoted, std::size_t from) -> std::string_view {
    const std::size_t at = text.find(quoted, from);
    if (at == std::string_view::npos) return {};
    const std::size_t open = text.find('"', at + quoted.size());
    if (open == std::string_view::npos || open > at + quoted.size() + 4) return {};
    return text.substr(open + 1, std::min(text.find('"', open + 1), open + 254) - open - 1);
  };
  const std::size_t metadata = text.find("\"metadata\"");
  std::string known(kind.empty() ? "object" : kind);
  if (metadata == std::string_view::npos) return known;
  const std::string_view name = member("\"name\"", metadata);
  const std::string_view space = member("\"namespace\"", metadata);
  if (!name.empty()) known += ' ';
  if (!name.empty() && !space.empty()) known.append(space) += '/';
  return known.append(name);
}

}  // namespace

struct WireScanner::State {
  explicit State(WireScannerOptions given) : options(std::move(given)) {
    if (options.form == WireForm::compressed) options.form = WireForm::whole;
  }

  /// Larger buffers are freed after the object that needed them.
  static constexpr std::size_t kept_buffer = 1u << 20;

  WireScannerOptions options;
  simdjson::ondemand::parser parser;
  std::string padded;
  std::string stamp;
  FoundObject found;

  WireObject read(std::string_view text, WireForm form);
  WireObject read_as_is(std::string_view text, WireForm form);
  void scan(std::string_view text, WireForm form);
  void load(std::string_view text);
  void project(std::string_view name, const char* raw_name, ondemand::value& value);
  void put_names_in(WireForm form);
};

/// Copies the text into a buffer with the parser's padding. Indented text is made compact.
void WireScanner::State::load(std::string_view text) {
  if (padded.size() > kept_buffer && text.size() < kept_buffer / 4) {
    padded = std::string();
    parser = simdjson::ondemand::parser();
  }
  if (padded.size() < text.size() + simdjson::SIMDJSON_PADDING)
    padded.resize(text.size() + text.size() / 4 + simdjson::SIMDJSON_PADDING);
  std::size_t size = text.size();
  // JSON strings contain no raw newline, so text without one is assumed to be compact already.
  if (text.find('\n') == std::string_view::npos) {
    std::memcpy(padded.data(), text.data(), size);
  } else if (simdjson::minify(text.data(), text.size(), padded.data(), size) != simdjson::SUCCESS) {
    throw Problem{"", "not JSON: a string is not closed"};
  }
  std::memset(padded.data() + size, ' ', simdjson::SIMDJSON_PADDING);
  found.document = {padded.data(), size};
}

void WireScanner::State::scan(std::string_view text, WireForm form) {
  found.clear();
  // Names are inserted after the first byte, which has to be the brace.
  while (!text.empty() && detail::is_json_space(text.front())) text.remove_prefix(1);
  load(text);
  ondemand::document document = parser.iterate(simdjson::padded_string_view(
      found.document.data(), found.document.size(), found.document.size() + simdjson::SIMDJSON_PADDING));
  if (document.type() != ondemand::json_type::object) wrong("", "object", document.type());
  for (auto member : document.get_object()) {
    ondemand::field field = field_of(member);
    const char* const raw_name = field.key().raw();
    const std::string_view name = name_of(field).text;
    if (name == "metadata")
      read_metadata(field.value(), found);
    else if (name == "kind")
      found.kind = string_of(field.value(), "kind");
    else if (name == "apiVersion")
      found.api_version = string_of(field.value(), "apiVersion");
    else if (form == WireForm::projected)
      project(name, raw_name, field.value());
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    throw Problem{"", "not JSON: text after the object"};
  if (form != WireForm::metadata_only && found.name.text.empty()) throw Problem{"metadata.name", "missing"};
}

/// Leaves out what the projection does not select of a member of the object.
void WireScanner::State::project(std::string_view name, const char* raw_name, ondemand::value& value) {
  const detail::ProjectedParts* const parts = options.projection.parts().find(name);
  if (parts == nullptr)
    cut_member(found, raw_name, value);
  else if (!parts->whole)
    cut_unselected(found, value, *parts);
}

/// Inserts apiVersion and kind where the document has none, so that list items have the same form as other
/// objects.
void WireScanner::State::put_names_in(WireForm form) {
  stamp.clear();
  if (form == WireForm::metadata_only) {
    if (!options.api_version.empty()) found.api_version = {options.api_version, false};
    if (!options.kind.empty()) found.kind = {options.kind, false};
    return;
  }
  const auto put = [this](Found& member, const char* name, const std::string& value) {
    if (!member.text.empty() || value.empty()) return;
    (stamp += '"').append(name) += "\":\"";
    (stamp += value) += "\",";
    member = {value, false};
  };
  put(found.api_version, "apiVersion", options.api_version);
  put(found.kind, "kind", options.kind);
}

WireObject WireScanner::State::read(std::string_view text, WireForm form) {
  return options.transform ? read_as_is(options.transform(text), form) : read_as_is(text, form);
}

WireObject WireScanner::State::read_as_is(std::string_view text, WireForm form) {
  std::string path;
  std::string problem;
  try {
    scan(text, form);
    put_names_in(form);
    const auto* projected = form == WireForm::projected ? &options.projection.parts() : nullptr;
    return detail::WireBuilder{found, form != WireForm::metadata_only, projected, stamp}.build();
  } catch (const Problem& caught) {
    path = caught.path;
    problem = caught.text;
  } catch (const simdjson::simdjson_error& caught) {
    problem = std::string("not JSON: ") + simdjson::error_message(caught.error());
  }
  const std::string known = known_name(text, options.kind);
  throw DecodeError(path.empty() ? known : known + ": " + path, problem);
}

WireScanner::WireScanner(WireScannerOptions options) : state_(std::make_unique<State>(std::move(options))) {}
WireScanner::~WireScanner() = default;
WireScanner::WireScanner(WireScanner&&) noexcept = default;
WireScanner& WireScanner::operator=(WireScanner&&) noexcept = default;

WireObject WireScanner::object(std::string_view text) {
  WireObject object = state_->read(text, state_->options.form);
  if (object.name().empty())
    throw DecodeError(known_name(text, state_->options.kind) + ": metadata.name", "missing");
  return object;
}

namespace {

std::optional<WatchType> watch_type(std::string_view name) {
  if (name == "ADDED") return WatchType::added;
  if (name == "MODIFIED") return WatchType::modified;
  if (name == "DELETED") return WatchType::deleted;
  if (name == "BOOKMARK") return WatchType::bookmark;
  if (name == "ERROR") return WatchType::error;
  return std::nullopt;
}

/// Returns type and object of a frame in the form that API servers write: {"type":"ADDED","object":{...}}.
std::optional<std::pair<std::string_view, std::string_view>> usual_frame(std::string_view frame) {
  constexpr std::string_view head = "{\"type\":\"";
  constexpr std::string_view middle = "\",\"object\":";
  if (!frame.starts_with(head) || !frame.ends_with('}')) return std::nullopt;
  const std::size_t end = frame.find('"', head.size());
  if (end == std::string_view::npos || !frame.substr(end).starts_with(middle)) return std::nullopt;
  const std::string_view type = frame.substr(head.size(), end - head.size());
  frame = frame.substr(end + middle.size());
  frame.remove_suffix(1);
  // Only if nothing follows the object; any other frame is parsed completely.
  detail::ContainerScan scan;
  if (frame.empty() || frame[0] != '{' || scan.feed(frame) != frame.size() || !scan.done())
    return std::nullopt;
  return std::pair(type, frame);
}

}  // namespace

WireEvent WireScanner::event(std::string_view frame) {
  while (!frame.empty() && detail::is_json_space(frame.back())) frame.remove_suffix(1);
  std::string type_text;
  std::string object_text;
  auto parts = usual_frame(frame);
  if (!parts) {
    const Json tree = Json::parse(frame, "watch event");
    type_text = tree["type"].string_or("");
    object_text = tree["object"].dump();
    parts.emplace(type_text, object_text);
  }
  const std::optional<WatchType> type = watch_type(parts->first);
  if (!type)
    throw DecodeError("watch event: type",
                      "expected one of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, found \"" +
                          std::string(parts->first.substr(0, 40)) + "\"");
  WireEvent event{.type = *type};
  if (*type == WatchType::error) {
    event.error = Status::decode(0, parts->second);
  } else if (*type == WatchType::bookmark) {
    event.object = state_->read_as_is(parts->second, WireForm::metadata_only);
  } else {
    event.object = object(parts->second);
  }
  return event;
}

}  // namespace v0
}  // namespace evenkeel
