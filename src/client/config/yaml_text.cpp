// SPDX-License-Identifier: Apache-2.0
#include "client/config/yaml_text.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <simdjson.h>
#include <yaml-cpp/eventhandler.h>

#include <evenkeel/api/bytes.hpp>

#include "api/member_collector.hpp"
#include "api/yaml_scalar.hpp"
#include "base/utf8.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Records the position of the last node, and builds nothing.
class LastMark final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { mark_ = mark; }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { mark_ = mark; }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override {
    mark_ = mark;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    mark_ = mark;
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    mark_ = mark;
  }
  void OnMapEnd() override {}
  const YAML::Mark& mark() const { return mark_; }

 private:
  YAML::Mark mark_;
};

/// Returns true if a line begins with "---" or "...", which is not allowed within a document (YAML 1.2,
/// 9.1.2).
bool is_marker(std::string_view line, std::string_view marker) {
  if (!line.starts_with(marker)) return false;
  const std::string_view rest = line.substr(marker.size());
  return rest.empty() || rest.front() == ' ' || rest.front() == '\t' || rest.front() == '\r';
}

bool is_content(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '#';
}

/// Throws at the first line of a second non-empty document. Returns the maximum number of documents, empty
/// ones included.
int count_documents(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  bool first_has_content = false;
  bool ended = false;  // the document with content has ended
  int number = 0;
  int documents = 1;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool starts = is_marker(line, "---");
    if (starts || is_marker(line, "...")) {
      ended = first_has_content;
      ++documents;
      line.remove_prefix(3);
      if (!starts) line = {};
    } else if (line.starts_with('%') && (ended || !first_has_content)) {
      line = {};  // a directive
    }
    if (is_content(line)) {
      YAML::Mark mark = YAML::Mark::null_mark();
      mark.line = number;
      mark.column = 0;
      if (ended) throw YAML::ParserException(mark, "a second document; expected one");
      first_has_content = true;
    }
    ++number;
  }
  return documents;
}

}  // namespace

void require_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text)) return;
  YAML::Mark mark;
  // No character is cut, because no part of one is a line feed.
  for (std::size_t end; simdjson::validate_utf8(text.substr(0, end = text.find('\n')));) {
    text.remove_prefix(end + 1);
    ++mark.line;
  }
  throw YAML::ParserException(mark, "invalid UTF-8");
}

YAML::Node load_yaml(const std::string& text) {
  require_utf8(text);
  int left = count_documents(text);
  std::istringstream input(text);
  YAML::Parser parser(input);
  LastMark last;
  while (left > 0 && parser.HandleNextDocument(last)) --left;
  // If everything had been parsed, another call would have found nothing.
  if (left == 0 && parser)
    throw YAML::ParserException(last.mark(), "the text after this position cannot be parsed");
  return YAML::Load(text);
}

namespace {

constexpr std::string_view tag_prefix = "tag:yaml.org,2002:";

using Visit = std::function<void(const YAML::Node& name, const YAML::Node& value)>;

void each_member(const YAML::Node& map, std::size_t& allowance, const Visit& visit, int depth);

bool is_merge(const YAML::Node& name) {
  return name.IsScalar() && name.Scalar() == "<<" &&
         (name.Tag() == "?" || name.Tag() == std::string(tag_prefix) + "merge");
}

void each_merged(const YAML::Node& from, std::size_t& allowance, const Visit& visit, int depth) {
  if (depth > max_yaml_depth || allowance <= from.size())
    throw DecodeError("yaml", "document contains excessive aliasing");
  allowance -= from.size() + 1;
  if (from.IsMap()) return each_member(from, allowance, visit, depth);
  bool fits = from.IsSequence();
  // The first map takes precedence, so it comes last.
  for (std::size_t i = fits ? from.size() : 0; fits && i > 0; --i) {
    fits = from[i - 1].IsMap();
    if (fits) each_member(from[i - 1], allowance, visit, depth);
  }
  if (!fits) throw DecodeError("yaml", "map merge requires map or sequence of maps as the value");
}

void each_member(const YAML::Node& map, std::size_t& allowance, const Visit& visit, int depth) {
  for (const auto& entry : map) {
    if (is_merge(entry.first)) {
      each_merged(entry.second, allowance, visit, depth + 1);
    } else {
      visit(entry.first, entry.second);
    }
  }
}

/// Returns the text with U+FFFD for each byte that is not UTF-8, as Go writes JSON.
std::string utf8_of(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    out += length == 0 ? utf8_replacement : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

Json scalar_value(const YAML::Node& node) {
  std::string_view tag = node.Tag();
  if (tag.empty() || tag == "?") {
    if (const std::string_view number = non_finite(node.Scalar()); !number.empty())
      throw DecodeError("yaml", "json: unsupported value: " + std::string(number));
    return plain_scalar(node.Scalar());
  }
  if (!tag.starts_with(tag_prefix)) return Json(node.Scalar());  // "!", of a quoted one, or a tag of its own
  tag.remove_prefix(tag_prefix.size());
  if (tag == "binary") return Json(utf8_of(yaml_text(node)));
  if (tag != "null" && tag != "bool" && tag != "int" && tag != "float") return Json(node.Scalar());
  Json value = plain_scalar(node.Scalar());
  const bool fits = tag == "null"   ? value.is_null()
                    : tag == "bool" ? value.kind() == Json::Kind::boolean
                    : tag == "int"  ? value.is_integer()
                                    : value.is_number();
  if (!fits) throw DecodeError("yaml", "not a !!" + std::string(tag));
  return value;
}

class Converter {
 public:
  explicit Converter(std::size_t allowance) : left_(allowance) {}

  Json convert(const YAML::Node& node, int depth) {
    if (depth > max_yaml_depth) throw DecodeError("YAML", "nested deeper than 512 levels");
    if (left_-- == 0) throw DecodeError("yaml", "document contains excessive aliasing");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return scalar_value(node);
      case YAML::NodeType::Sequence: {
        Json out = Json::array();
        for (const auto& item : node) out.push_back(convert(item, depth + 1));
        return out;
      }
      case YAML::NodeType::Map: {
        MemberCollector members;
        each_yaml_member(node, left_, [&](const YAML::Node& name, const YAML::Node& value) {
          members.add(key_text(yaml_key(name))) = convert(value, depth + 1);
        });
        return Json(members.finish());
      }
      default:
        return Json();
    }
  }

 private:
  std::size_t left_;  // remaining number of values
};

}  // namespace

void each_yaml_member(const YAML::Node& map, std::size_t& allowance, const Visit& visit) {
  each_member(map, allowance, visit, 0);
}

std::string yaml_text(const YAML::Node& scalar) {
  if (scalar.Tag() != std::string(tag_prefix) + "binary") return scalar.Scalar();
  auto decoded = Bytes::from_base64(scalar.Scalar());
  if (!decoded) throw DecodeError("yaml", "!!binary value contains invalid base64 data");
  return decoded->value();
}

Json yaml_key(const YAML::Node& key) {
  if (key.IsScalar() && (key.Tag().empty() || key.Tag() == "?"))
    if (const std::string_view number = non_finite(key.Scalar()); !number.empty()) return Json(number);
  Json value = key.IsScalar() ? scalar_value(key) : Json();
  if (value.is_null()) throw DecodeError("yaml", "unsupported map key: " + std::string(kind_of(key)));
  return value;
}

Json yaml_to_json(const YAML::Node& document, std::size_t allowance) {
  return Converter(allowance).convert(document, 0);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
