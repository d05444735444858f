// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/strict_fields.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/schema/pruning.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// Scans the text of a JSON document without building it, and records duplicate names in objects.
class DuplicateScan {
 public:
  /// `places` gets every path in the order of the text, if given.
  explicit DuplicateScan(std::string_view text, std::vector<std::string>* places = nullptr)
      : text_(text), places_(places) {}

  std::vector<std::string> run() {
    value("", 0);
    return std::move(found_);
  }

 private:
  static constexpr int max_depth = 512;

  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char wanted) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  /// Parses the string at the current position; returns false if there is none.
  bool string(std::string& out) {
    blanks();
    const std::size_t start = at_;
    if (!take('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return false;
    ++at_;
    if (const std::string_view inside = text_.substr(start + 1, at_ - start - 2);
        inside.find('\\') == std::string_view::npos) {
      out = inside;
      return true;
    }
    try {
      out = Json::parse(text_.substr(start, at_ - start)).string_or("");
    } catch (const DecodeError&) {
      return false;
    }
    return true;
  }

  bool value(const std::string& path, int depth) {
    blanks();
    if (at_ >= text_.size() || depth > max_depth) return false;
    if (text_[at_] == '{') return object(path, depth);
    if (text_[at_] == '[') return array(path, depth);
    std::string ignored;
    if (text_[at_] == '"') return string(ignored);
    const std::size_t end = text_.find_first_of(",]} \t\r\n", at_);
    if (end == at_) return false;
    at_ = std::min(end, text_.size());
    return true;
  }

  bool object(const std::string& path, int depth) {
    take('{');
    if (take('}')) return true;
    std::set<std::string> seen;
    std::set<std::string> told;
    do {
      std::string name;
      if (!string(name) || !take(':')) return false;
      const std::string here = path.empty() ? name : path + "." + name;
      if (places_ != nullptr) places_->push_back(here);
      if (!seen.insert(name).second && told.insert(name).second) found_.push_back(here);
      if (!value(here, depth + 1)) return false;
    } while (take(','));
    return take('}');
  }

  bool array(const std::string& path, int depth) {
    take('[');
    if (take(']')) return true;
    std::size_t index = 0;
    do {
      if (!value(path + "[" + std::to_string(index++) + "]", depth + 1)) return false;
    } while (take(','));
    return take(']');
  }

  std::string_view text_;
  std::vector<std::string>* places_;
  std::size_t at_ = 0;
  std::vector<std::string> found_;
};

/// Sorts paths in the order of the text.
void in_order_of(std::string_view text, std::vector<std::string>& paths) {
  std::vector<std::string> places;
  DuplicateScan(text, &places).run();
  const auto rank = [&](const std::string& path) { return std::find(places.begin(), places.end(), path); };
  std::stable_sort(paths.begin(), paths.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
}

}  // namespace

std::vector<std::string> duplicate_fields(std::string_view text) {
  return DuplicateScan(text).run();
}

std::vector<std::string> strict_problems(std::string_view text, const Json& object, const KindSchema& kind) {
  std::vector<std::string> problems;
  for (const std::string& path : duplicate_fields(text))
    problems.push_back("duplicate field \"" + path + "\"");
  Json copy = object;
  std::vector<std::string> unknown = prune(copy, kind);
  if (kind.built_in && unknown.size() > 1) in_order_of(text, unknown);
  for (const std::string& path : unknown) problems.push_back("unknown field \"" + path + "\"");
  return problems;
}

std::string strict_error(const std::vector<std::string>& problems) {
  std::string text = "strict decoding error: ";
  for (std::size_t i = 0; i < problems.size(); ++i) text += (i > 0 ? ", " : "") + problems[i];
  return text;
}

std::string warning_header(std::string_view text) {
  std::string result = "299 - \"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter == '\n' || letter == '\r' ? ' ' : letter;
  }
  return result + "\"";
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
