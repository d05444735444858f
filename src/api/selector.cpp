// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>

#include <evenkeel/api/selector.hpp>

#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  const auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  while (true) {
    const auto dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || !lower(part.front()) || !lower(part.back())) return false;
    if (!std::all_of(part.begin(), part.end(), [&](char c) { return lower(c) || c == '-'; })) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Tokenizer: words, and the marks , ( ) ! = == != < >; blanks separate tokens.
class SelectorReader {
 public:
  explicit SelectorReader(std::string_view text) : text_(text), rest_(text) {}

  LabelSelector read() {
    LabelSelector selector;
    if (peek().empty()) return selector;
    while (true) {
      selector.match_expressions.push_back(requirement());
      const std::string_view mark = take();
      if (mark.empty()) return selector;
      if (mark != ",") fail("found \"" + std::string(mark) + "\", expected \",\" or the end");
      if (peek().empty()) fail("found the end, expected a name after \",\"");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw DecodeError("label selector \"" + std::string(text_) + "\"", problem);
  }

  static bool is_mark(char c) { return std::string_view(",()!=<>").find(c) != std::string_view::npos; }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  std::string_view peek() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) return {};
    if (rest_.starts_with("==") || rest_.starts_with("!=")) return rest_.substr(0, 2);
    if (is_mark(rest_.front())) return rest_.substr(0, 1);
    const auto end =
        std::find_if(rest_.begin(), rest_.end(), [](char c) { return is_mark(c) || is_blank(c); });
    return rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  }
  std::string_view take() {
    const std::string_view token = peek();
    rest_.remove_prefix(token.size());
    return token;
  }
  bool at_word() {
    const std::string_view token = peek();
    return !token.empty() && !is_mark(token.front());
  }

  LabelSelectorRequirement requirement() {
    if (peek() == "!") {
      take();
      return {name(), "DoesNotExist", {}};
    }
    std::string key = name();
    const std::string_view next = peek();
    if (next.empty() || next == ",") return {std::move(key), "Exists", {}};
    const std::string word(take());
    if (word == "=" || word == "==") return {std::move(key), "In", {value()}};
    if (word == "!=") return {std::move(key), "NotIn", {value()}};
    if (word == "in") return {std::move(key), "In", values()};
    if (word == "notin") return {std::move(key), "NotIn", values()};
    if (word == ">" || word == "<") {
      std::string bound = value();
      if (!integer_of(bound)) fail("\"" + bound + "\" is not an integer");
      return {std::move(key), word == ">" ? "Gt" : "Lt", {std::move(bound)}};
    }
    fail("found \"" + word + "\", expected one of =, ==, !=, in, notin, <, >");
  }

  std::string name() {
    if (!at_word()) fail("found \"" + std::string(peek()) + "\", expected a name");
    std::string key(take());
    if (const std::string problem = label_name_problem(key); !problem.empty()) fail(problem);
    return key;
  }

  /// An empty token is the empty value: "a=" and "a=,b=c".
  std::string value() {
    const std::string_view next = peek();
    if (next.empty() || next == ",") return {};
    if (!at_word()) fail("found \"" + std::string(next) + "\", expected a value");
    return checked(take());
  }

  std::string checked(std::string_view word) const {
    if (const std::string problem = label_value_problem(word); !problem.empty()) fail(problem);
    return std::string(word);
  }

  std::vector<std::string> values() {
    if (take() != "(") fail("expected \"(\" after in and notin");
    std::vector<std::string> out;
    while (true) {
      out.push_back(at_word() ? checked(take()) : std::string());
      const std::string mark(take());
      if (mark == ")") break;
      if (mark != ",") fail("found \"" + mark + "\", expected \",\" or \")\"");
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  std::string_view text_;
  std::string_view rest_;
};

std::string text_of(const LabelSelectorRequirement& requirement) {
  const std::string& operation = requirement.operator_;
  const std::vector<std::string>& values = requirement.values;
  const std::string first = values.empty() ? std::string() : values.front();
  if (operation == "Exists") return requirement.key;
  if (operation == "DoesNotExist") return "!" + requirement.key;
  if (operation == "Gt") return requirement.key + ">" + first;
  if (operation == "Lt") return requirement.key + "<" + first;
  const bool in = operation == "In";
  if (values.size() == 1) return requirement.key + (in ? "=" : "!=") + first;
  return requirement.key + (in ? " in (" : " notin (") + detail::ascii::join(values, ",") + ")";
}

bool all_match(const LabelSelector& selector, auto&& find) {
  for (const auto& [name, value] : selector.match_labels) {
    const std::string* label = find(name);
    if (label == nullptr || *label != value) return false;
  }
  return std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [&](const LabelSelectorRequirement& requirement) {
                       return requirement.matches(find(requirement.key));
                     });
}

/// Parses one term of a field selector from `text`, up to an unescaped comma.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : text_(text) {}

  FieldSelector read() {
    FieldSelector selector;
    if (text_.empty()) return selector;
    while (true) {
      if (text_.substr(at_).empty() || text_[at_] == ',') {
        if (!skip_comma()) return selector;
        continue;
      }
      selector.terms.push_back(term());
      if (!skip_comma()) return selector;
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw DecodeError("field selector \"" + std::string(text_) + "\"", problem);
  }
  bool skip_comma() {
    if (at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  FieldSelector::Term term() {
    FieldSelector::Term out;
    while (at_ < text_.size() && text_[at_] != '=' && text_[at_] != '!' && text_[at_] != ',')
      out.field += text_[at_++];
    const std::string_view rest = text_.substr(at_);
    out.negated = rest.starts_with("!=");
    if (out.negated || rest.starts_with("==")) {
      at_ += 2;
    } else if (rest.starts_with("=")) {
      ++at_;
    } else {
      fail("expected =, == or != after \"" + out.field + "\"");
    }
    if (out.field.empty()) fail("expected a field before the operator");
    out.value = value();
    return out;
  }

  std::string value() {
    std::string out;
    for (; at_ < text_.size() && text_[at_] != ','; ++at_) {
      if (text_[at_] == '=') fail("\"=\" in a value is written \"\\=\"");
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      ++at_;
      if (at_ >= text_.size() || std::string_view("\\,=").find(text_[at_]) == std::string_view::npos)
        fail("a backslash is followed by a comma, an equals sign or a backslash");
      out += text_[at_];
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string field_of(const Json& object, std::string_view path) {
  const Json* place = &object;
  while (!path.empty()) {
    const auto dot = path.find('.');
    place = &(*place)[path.substr(0, dot)];
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  if (place->is_string()) return place->as_string();
  return place->is_null() ? std::string() : place->dump();
}

}  // namespace

EVENKEEL_DEFINE_FIELDS(LabelSelectorRequirement, key, operator_, (values, list_atomic))
EVENKEEL_DEFINE_FIELDS(LabelSelector, match_labels, (match_expressions, list_atomic))

bool LabelSelectorRequirement::matches(const std::string* label) const {
  const auto among = [&] { return std::find(values.begin(), values.end(), *label) != values.end(); };
  if (operator_ == "In") return label != nullptr && among();
  if (operator_ == "NotIn") return label == nullptr || !among();
  if (operator_ == "Exists") return label != nullptr;
  if (operator_ == "DoesNotExist") return label == nullptr;
  if (label == nullptr || values.size() != 1) return false;
  const auto have = integer_of(*label);
  const auto bound = integer_of(values.front());
  if (!have || !bound) return false;
  return (operator_ == "Gt" && *have > *bound) || (operator_ == "Lt" && *have < *bound);
}

LabelSelector LabelSelector::parse(std::string_view text) {
  return SelectorReader(text).read();
}

bool LabelSelector::matches(const std::map<std::string, std::string>& labels) const {
  return all_match(*this, [&](const std::string& name) {
    const auto found = labels.find(name);
    return found == labels.end() ? nullptr : &found->second;
  });
}

bool LabelSelector::matches(const Json& labels) const {
  return all_match(*this, [&](const std::string& name) {
    const Json& value = labels[name];
    return value.is_string() ? &value.as_string() : nullptr;
  });
}

std::string LabelSelector::str() const {
  std::vector<std::pair<std::string, std::string>> parts;
  for (const auto& [name, value] : match_labels) parts.emplace_back(name, name + "=" + value);
  for (const auto& requirement : match_expressions) parts.emplace_back(requirement.key, text_of(requirement));
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out;
  for (const auto& [name, part] : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

FieldSelector FieldSelector::parse(std::string_view text) {
  return FieldReader(text).read();
}

bool FieldSelector::matches(const std::function<std::string(std::string_view)>& value_of) const {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const Term& term) { return (value_of(term.field) == term.value) != term.negated; });
}

bool FieldSelector::matches(const Json& object) const {
  return matches([&](std::string_view field) { return field_of(object, field); });
}

std::string FieldSelector::str() const {
  std::string out;
  for (const Term& term : terms) {
    if (!out.empty()) out += ',';
    out += term.field + (term.negated ? "!=" : "=");
    for (const char c : term.value) {
      if (c == ',' || c == '=' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string label_name_problem(std::string_view name) {
  const auto slash = name.rfind('/');
  std::string_view last = name;
  if (slash != std::string_view::npos) {
    last = name.substr(slash + 1);
    if (!is_dns_subdomain(name.substr(0, slash)))
      return "\"" + std::string(name) + "\" is not a label name: the part before \"/\" must be a DNS name";
  }
  if (detail::ascii::is_label_value(last)) return {};
  return "\"" + std::string(name) +
         "\" is not a label name: it has at most 63 letters, digits, '-', '_' and '.', and begins and ends "
         "with "
         "a "
         "letter or digit";
}

std::string label_value_problem(std::string_view value) {
  if (value.empty() || detail::ascii::is_label_value(value)) return {};
  return "\"" + std::string(value) +
         "\" is not a label value: it has at most 63 letters, digits, '-', '_' and '.', and begins and ends "
         "with a "
         "letter or digit";
}

}  // namespace v0
}  // namespace evenkeel
