// SPDX-License-Identifier: Apache-2.0
// labelSelector, fieldSelector and shardSelector of a request, with the server's error texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/hash_ranges.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Parses "a=b,c in (d,e),!f". Source: apimachinery labels.Parse.
class LabelQuery {
 public:
  LabelQuery() = default;
  /// Throws StatusError (400).
  explicit LabelQuery(std::string_view text);

  bool empty() const { return requirements_.empty(); }
  bool matches(const Json& labels) const;
  bool matches(const Stored& object) const;

 private:
  friend class LabelQueryParser;
  enum class Operator : std::uint8_t { exists, absent, in, not_in, greater, less };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;
  };
  static bool holds(const Requirement& requirement, const Json& label);
  std::vector<Requirement> requirements_;
};

/// Parses "metadata.name=web,status.phase!=Failed". Source: apimachinery fields.ParseSelector.
class FieldQuery {
 public:
  FieldQuery() = default;
  /// Throws StatusError (400), also for unsupported fields.
  FieldQuery(std::string_view text, const ResourceType& type);

  bool empty() const { return terms_.empty(); }
  bool matches(const Json& object) const;
  bool matches(const Stored& object) const;
  /// Returns the name that metadata.name must equal, empty if there is none.
  std::string name() const;

 private:
  struct Term {
    std::string field;
    std::string value;
    bool equal;
  };
  template <class Object>
  bool holds(const Object& object) const;
  std::vector<Term> terms_;
};

/// Parses "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || ...".
/// Source: apiserver pkg/sharding/parser.go, apimachinery pkg/sharding/selector.go.
class ShardQuery {
 public:
  ShardQuery() = default;
  /// Empty text selects everything. Throws StatusError (500).
  explicit ShardQuery(std::string_view text);

  bool empty() const { return ranges_.empty(); }
  bool matches(const Stored& object) const;
  /// Returns the normalised selector.
  std::string text() const { return detail::shard_selector(field_, ranges_); }

 private:
  std::string field_;
  std::vector<HashRange> ranges_;
};

/// The selectors of a request.
struct Selection {
  LabelQuery labels = {};
  FieldQuery fields = {};
  ShardQuery shards = {};

  bool empty() const { return has_no_attributes() && shards.empty(); }
  /// Returns true if neither labels nor fields are selected by.
  bool has_no_attributes() const { return labels.empty() && fields.empty(); }
  bool matches(const Stored& object, const ResourceType& type) const;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
