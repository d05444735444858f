// SPDX-License-Identifier: Apache-2.0
// Label selectors and field selectors: parsing, formatting and matching.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {

/// One condition on a label: In, NotIn, Exists, DoesNotExist; Gt and Lt only in the text form.
struct EVENKEEL_API LabelSelectorRequirement {
  std::string key = {};
  std::string operator_ = {};
  std::vector<std::string> values = {};

  /// Returns true if a label of this value (null: absent) satisfies the condition. An absent label satisfies
  /// NotIn. An unknown operator is never satisfied.
  bool matches(const std::string* label) const;
  bool operator==(const LabelSelectorRequirement&) const = default;
};

/// A selector as objects contain it (`spec.selector`) and as requests carry it (`labelSelector=`). All parts
/// must match; an empty selector matches everything.
struct EVENKEEL_API LabelSelector {
  std::map<std::string, std::string> match_labels = {};
  std::vector<LabelSelectorRequirement> match_expressions = {};

  /// Parses "a=b,c!=d,e in (f,g),h notin (i),j,!k". Throws DecodeError. `a=b` becomes an In condition.
  /// Source: apimachinery labels.Parse.
  static LabelSelector parse(std::string_view text);
  bool matches(const std::map<std::string, std::string>& labels) const;
  /// Matches the labels of a document (`metadata.labels`); values that are not strings count as absent.
  bool matches(const Json& labels) const;
  bool empty() const noexcept { return match_labels.empty() && match_expressions.empty(); }
  /// Returns the text form, sorted by key.
  std::string str() const;
  bool operator==(const LabelSelector&) const = default;
};

EVENKEEL_DECLARE_FIELDS(LabelSelectorRequirement)
EVENKEEL_DECLARE_FIELDS(LabelSelector)

/// Conditions on fields: "metadata.name=web,status.phase!=Running".
struct EVENKEEL_API FieldSelector {
  struct Term {
    std::string field = {};
    std::string value = {};
    bool negated = false;
    bool operator==(const Term&) const = default;
  };
  std::vector<Term> terms = {};

  /// Parses "=", "==" and "!="; a backslash escapes comma, equals and itself in values. Throws DecodeError.
  static FieldSelector parse(std::string_view text);
  /// `value_of` returns the value of a field, "" if absent.
  bool matches(const std::function<std::string(std::string_view field)>& value_of) const;
  /// Matches a document: fields are member names joined by dots.
  bool matches(const Json& object) const;
  bool empty() const noexcept { return terms.empty(); }
  std::string str() const;
  bool operator==(const FieldSelector&) const = default;
};

/// Returns the problem of a label name or value, "" if it is valid: at most 63 letters, digits, '-', '_' and
/// '.', beginning and ending with a letter or digit; a name may have a prefix of a DNS name and '/'.
EVENKEEL_API std::string label_name_problem(std::string_view name);
EVENKEEL_API std::string label_value_problem(std::string_view value);

}  // namespace v0
}  // namespace evenkeel
