// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/block_yaml.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <yaml.h>

#include "api/member_collector.hpp"
#include "api/yaml_scalar.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Thrown to leave a document to the other parser.
struct NotBlockYaml {};

void require(bool condition) {
  if (!condition) throw NotBlockYaml();
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Line breaks and printable ASCII, without tabs. An index of libyaml, which counts characters, is one of
/// bytes.
bool is_simple(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; });
}

/// Returns plain_scalar(), without its comparisons for a text that is longer than all words.
Json plain_value(std::string_view text) {
  constexpr std::size_t longest_word = 5;  // "false"
  const bool letter = !text.empty() && (text.front() | 0x20) >= 'a' && (text.front() | 0x20) <= 'z';
  return letter && text.size() > longest_word ? Json(text) : v0::detail::plain_scalar(std::string(text));
}

/// The events of a text, of which it owns the current one.
class Events {
 public:
  explicit Events(std::string_view text) {
    require(yaml_parser_initialize(&parser_) != 0);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Events() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// Goes to the next event and returns its type.
  yaml_event_type_t next() {
    yaml_event_delete(&event_);
    require(yaml_parser_parse(&parser_, &event_) != 0);
    return event_.type;
  }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
};

/// Builds a document of events. Leaves what yaml-cpp reads in another way or refuses.
class BlockParser {
 public:
  BlockParser(std::string_view text, const YamlItem& on_item)
      : text_(text), on_item_(on_item), event_(text) {}

  BlockYaml run() {
    event_.next();  // The start of the stream.
    require(event_.next() == YAML_DOCUMENT_START_EVENT && event_->data.document_start.implicit != 0);
    require(event_.next() != YAML_SCALAR_EVENT);
    BlockYaml out;
    out.document = value(0, nullptr);
    require(event_.next() == YAML_DOCUMENT_END_EVENT && event_->data.document_end.implicit != 0);
    require(event_.next() == YAML_STREAM_END_EVENT);
    out.duplicates = duplicates_;
    return out;
  }

 private:
  static constexpr int max_depth = 100;

  /// The value that begins with the current event; goes to its last one.
  Json value(int depth, const YamlItem* on_item) {
    require(depth < max_depth);
    switch (event_->type) {
      case YAML_MAPPING_START_EVENT:
        return mapping(depth);
      case YAML_SEQUENCE_START_EVENT:
        return sequence(depth, on_item);
      default:
        return scalar();
    }
  }

  Json mapping(int depth) {
    const auto& start = event_->data.mapping_start;
    require(start.anchor == nullptr && start.tag == nullptr);
    const bool block = start.style == YAML_BLOCK_MAPPING_STYLE;
    const std::size_t column = event_->start_mark.column;
    v0::detail::MemberCollector members;
    std::size_t count = 0;
    while (event_.next() != YAML_MAPPING_END_EVENT) {
      require(block && event_->start_mark.column == column);  // A key after "? " stands to the right.
      const Json key = scalar();
      const std::string name = v0::detail::key_text(key);
      require(!key.is_null() && name != "<<");  // a merge
      event_.next();
      const bool items = depth == 0 && on_item_ && name == "items";
      members.add(name) = value(depth + 1, items ? &on_item_ : nullptr);
      ++count;
    }
    Json::Object object = members.finish();
    duplicates_ |= object.size() < count;
    return Json(std::move(object));
  }

  Json sequence(int depth, const YamlItem* on_item) {
    const auto& start = event_->data.sequence_start;
    require(start.anchor == nullptr && start.tag == nullptr);
    const bool block = start.style == YAML_BLOCK_SEQUENCE_STYLE;
    Json::Array items;
    while (event_.next() != YAML_SEQUENCE_END_EVENT) {
      require(block);
      Json item = value(depth + 1, nullptr);
      if (on_item != nullptr)
        (*on_item)(std::move(item));
      else
        items.push_back(std::move(item));
    }
    return Json(std::move(items));
  }

  /// The text of the current event, which must be a scalar.
  std::string_view content() const {
    require(event_->type == YAML_SCALAR_EVENT);
    const auto& scalar = event_->data.scalar;
    require(scalar.anchor == nullptr && scalar.tag == nullptr);
    return {reinterpret_cast<const char*>(scalar.value), scalar.length};
  }

  Json scalar() const {
    const std::string_view text = content();
    const bool one_line = event_->start_mark.line == event_->end_mark.line;
    switch (event_->data.scalar.style) {
      case YAML_PLAIN_SCALAR_STYLE:
        require(one_line && v0::detail::non_finite(text).empty());
        return plain_value(text);
      case YAML_LITERAL_SCALAR_STYLE:
        require(!begins_line());
        return Json(text);
      case YAML_FOLDED_SCALAR_STYLE:
        throw NotBlockYaml();
      default:
        require(one_line && is_ascii(text));  // yaml-cpp reads \N and \_ as one byte.
        return Json(text);
    }
  }

  /// Returns true if only spaces precede the current event in its line.
  bool begins_line() const {
    const std::size_t before = text_.find_last_not_of(' ', event_->start_mark.index - 1);
    return before == std::string_view::npos || text_[before] == '\n';
  }

  const std::string_view text_;
  const YamlItem& on_item_;
  Events event_;
  bool duplicates_ = false;
};

}  // namespace

std::optional<BlockYaml> parse_block_yaml(std::string_view text, const YamlItem& on_item) {
  if (!is_simple(text)) return std::nullopt;
  try {
    return BlockParser(text, on_item).run();
  } catch (const NotBlockYaml&) {
    return std::nullopt;
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
