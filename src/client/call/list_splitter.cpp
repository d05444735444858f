// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/list_splitter.hpp>

#include "base/json_scan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

/// The expected next part of the text.
enum class Expected : std::uint8_t {
  start,         // {
  first_member,  // a name or }
  member,        // a name
  name,          // the rest of a name
  colon,
  value_start,
  value,        // the rest of a value that is not an item
  after_value,  // , or }
  first_item,   // { or ]
  item_start,   // {
  item,         // the rest of an item
  after_item,   // , or ]
  end,          // white space only
};

const char* wanted(Expected expected) {
  switch (expected) {
    case Expected::start:
      return "'{'";
    case Expected::first_member:
      return "a member name or '}'";
    case Expected::member:
      return "a member name";
    case Expected::colon:
      return "':'";
    case Expected::after_value:
      return "',' or '}'";
    case Expected::first_item:
      return "an object or ']'";
    case Expected::item_start:
      return "an object";
    case Expected::after_item:
      return "',' or ']'";
    case Expected::end:
      return "the end";
    default:
      return "a value";
  }
}

}  // namespace

struct ListSplitter::State {
  explicit State(ListSplitterOptions given) : options(given) {}

  ListSplitterOptions options;
  ListMetadata metadata;
  std::string_view rest;
  std::string partial;  // of the name, value or item that spans pieces
  std::string name;     // of the member whose value is being read
  detail::ValueScan scan;
  std::size_t offset = 0;  // of rest in the body
  std::size_t items = 0;
  Expected expected = Expected::start;
  bool taken = false;  // partial was returned and is dropped by the next call
  bool seen_items = false;

  [[noreturn]] void fail(const std::string& problem) const {
    throw DecodeError("list", "offset " + std::to_string(offset) + ": " + problem);
  }
  [[noreturn]] void unexpected(char found) const {
    std::string text = "expected " + std::string(wanted(expected)) + ", found ";
    if (static_cast<unsigned char>(found) < 0x20 || static_cast<unsigned char>(found) > 0x7e) {
      fail(text + "byte " + std::to_string(static_cast<unsigned char>(found)));
    }
    fail(text + "'" + found + "'");
  }
  void drop(std::size_t count) {
    rest.remove_prefix(count);
    offset += count;
  }

  std::optional<std::string_view> next();
  void step(char c);
  void after_name(char c);
  void start_value(char c);
  bool keeps_value() const {
    return name == "metadata" || name == "kind" || name == "apiVersion" || name == "items";
  }
  std::optional<std::string_view> take(std::size_t bound, const char* what);
  void end_name(std::string_view text);
  void end_value(std::string_view text);
  void read_metadata(std::string_view text);
};

std::optional<std::string_view> ListSplitter::State::next() {
  if (taken) partial.clear();
  taken = false;
  while (!rest.empty()) {
    if (expected == Expected::item) {
      const auto text = take(options.max_item_bytes, "an item");
      if (!text) break;
      expected = Expected::after_item;
      ++items;
      return text;
    }
    if (expected == Expected::name || expected == Expected::value) {
      if (expected == Expected::value && !keeps_value()) {
        drop(scan.feed(rest));
        if (scan.done()) expected = Expected::after_value;
        continue;
      }
      const auto text = take(options.max_metadata_bytes, "list metadata");
      if (!text) break;
      expected == Expected::name ? end_name(*text) : end_value(*text);
      partial.clear();
      taken = false;
      continue;
    }
    const char c = rest[0];
    if (detail::is_json_space(c)) {
      drop(1);
    } else {
      step(c);
    }
  }
  return std::nullopt;
}

/// Returns the whole text being scanned, or nullopt (with all of `rest` saved) if it continues.
std::optional<std::string_view> ListSplitter::State::take(std::size_t bound, const char* what) {
  const std::size_t size = scan.feed(rest);
  const std::string_view text = rest.substr(0, size);
  if (partial.size() + size > bound)
    fail(std::string(what) + " is larger than " + std::to_string(bound) + " bytes");
  drop(size);
  if (!scan.done()) {
    partial.append(text);
    return std::nullopt;
  }
  if (partial.empty()) return text;
  partial.append(text);
  taken = true;
  return partial;
}

/// Consumes one byte of punctuation, or records that a name, value or item begins at it.
void ListSplitter::State::step(char c) {
  switch (expected) {
    case Expected::first_member:
    case Expected::member:
    case Expected::after_value:
    case Expected::colon:
      return after_name(c);
    case Expected::value_start:
      return start_value(c);
    case Expected::start:
      if (c != '{') unexpected(c);
      expected = Expected::first_member;
      return drop(1);
    case Expected::first_item:
    case Expected::item_start:
      if (c == '{') {
        scan.reset();
        expected = Expected::item;
        return;
      }
      if (c != ']' || expected == Expected::item_start) unexpected(c);
      expected = Expected::after_value;
      return drop(1);
    case Expected::after_item:
      if (c != ',' && c != ']') unexpected(c);
      expected = c == ',' ? Expected::item_start : Expected::after_value;
      return drop(1);
    default:
      unexpected(c);
  }
}

void ListSplitter::State::after_name(char c) {
  if (expected == Expected::colon) {
    if (c != ':') unexpected(c);
    expected = Expected::value_start;
    return drop(1);
  }
  if (expected == Expected::after_value) {
    if (c != ',' && c != '}') unexpected(c);
    expected = c == ',' ? Expected::member : Expected::end;
    return drop(1);
  }
  if (c == '"') {
    scan.reset();
    expected = Expected::name;
    return;
  }
  if (c != '}' || expected == Expected::member) unexpected(c);
  expected = Expected::end;
  drop(1);
}

void ListSplitter::State::start_value(char c) {
  if (name == "items" && c == '[') {
    if (seen_items) fail("items twice");
    seen_items = true;
    expected = Expected::first_item;
    return drop(1);
  }
  if (c == ',' || c == '}' || c == ']' || c == ':') unexpected(c);
  scan.reset();
  expected = Expected::value;
}

void ListSplitter::State::end_name(std::string_view text) {
  name = text.find('\\') == std::string_view::npos ? std::string(text.substr(1, text.size() - 2))
                                                   : Json::parse(text, "list").as_string();
  expected = Expected::colon;
}

void ListSplitter::State::end_value(std::string_view text) {
  expected = Expected::after_value;
  if (name == "metadata") return read_metadata(text);
  if (name == "items") {
    const Json value = Json::parse(text, "list");
    if (!value.is_null())
      throw DecodeError("list", "items: expected an array, found " + std::string(value.kind_name()));
    seen_items = true;
    return;
  }
  const Json value = Json::parse(text, "list");
  if (!value.is_string())
    throw DecodeError("list", name + ": expected string, found " + std::string(value.kind_name()));
  (name == "kind" ? metadata.kind : metadata.api_version) = value.as_string();
}

void ListSplitter::State::read_metadata(std::string_view text) {
  const Json tree = Json::parse(text, "list metadata");
  if (tree.is_null()) return;
  if (!tree.is_object())
    throw DecodeError("list", "metadata: expected object, found " + std::string(tree.kind_name()));
  const auto text_of = [&tree](const char* member) -> std::string {
    const Json& value = tree[member];
    if (value.is_null()) return {};
    if (!value.is_string())
      throw DecodeError("list", std::string("metadata.") + member + ": expected string, found " +
                                    std::string(value.kind_name()));
    return value.as_string();
  };
  metadata.resource_version = text_of("resourceVersion");
  metadata.continue_token = text_of("continue");
  if (tree["remainingItemCount"].is_integer())
    metadata.remaining_items = tree["remainingItemCount"].as_integer();
}

ListSplitter::ListSplitter(ListSplitterOptions options) : state_(std::make_unique<State>(options)) {}
ListSplitter::~ListSplitter() = default;
ListSplitter::ListSplitter(ListSplitter&&) noexcept = default;
ListSplitter& ListSplitter::operator=(ListSplitter&&) noexcept = default;

void ListSplitter::feed(std::string_view piece) {
  if (state_->taken) state_->partial.clear();
  state_->taken = false;
  state_->rest = piece;
}

std::optional<std::string_view> ListSplitter::next() {
  return state_->next();
}

const ListMetadata& ListSplitter::finish() {
  State& state = *state_;
  if (state.expected != Expected::end) state.fail("the body ends in the middle of the list");
  if (!state.seen_items) {
    const std::string& kind = state.metadata.kind;
    throw DecodeError("list", "expected a list, found " + (kind.empty() ? "an object without items" : kind));
  }
  return state.metadata;
}

std::size_t ListSplitter::items() const noexcept {
  return state_->items;
}

ListPlace ListSplitter::place() const noexcept {
  if (state_->expected == Expected::item) return ListPlace::in_item;
  const bool in_member = state_->expected == Expected::name || state_->expected == Expected::value;
  return in_member ? ListPlace::in_metadata : ListPlace::between;
}

}  // namespace v0
}  // namespace evenkeel
