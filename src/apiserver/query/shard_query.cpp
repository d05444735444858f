// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include "apiserver/query/selector.hpp"
#include "apiserver/schema/cel_node.hpp"
#include "apiserver/schema/status_error.hpp"
#include "base/fnv1a.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {
namespace shard_query {

using Kind = CelNode::Kind;

constexpr std::string_view by_uid = "object.metadata.uid";
constexpr std::string_view by_namespace = "object.metadata.namespace";
/// The exclusive end of all hashes.
constexpr std::string_view end_of_hashes = "0x10000000000000000";

struct ShardRange {
  std::string field;
  HashRange hashes;
};

[[noreturn]] void refuse(const std::string& problem) {
  throw StatusError::internal("invalid shard selector: " + problem);
}

std::string quoted(std::string_view text) {
  return Json(text).dump();
}

/// Returns the number by which cel-go's errors name the kind of an expression.
/// Source: cel-go common/ast/expr.go ExprKind.
std::string kind_number(const CelNode& node) {
  switch (node.kind) {
    case Kind::name:
      return "3";
    case Kind::list:
      return "4";
    case Kind::literal:
      return "5";
    case Kind::map:
      return "6";
    case Kind::field:
      return "7";
    default:
      return "1";
  }
}

/// Returns cel-go's name of the function that a node calls, without macros; empty if it calls none.
std::string function_of(const CelNode& node) {
  switch (node.kind) {
    case Kind::call:
    case Kind::loop:
      return node.text;
    case Kind::has:
      return "has";
    case Kind::index:
      return "_[_]";
    case Kind::choice:
      return "_?_:_";
    case Kind::conjunction:
      return "_&&_";
    default:
      return {};
  }
}

std::string path_of(const CelNode& node) {
  if (node.kind == Kind::name) return node.text;
  if (node.kind == Kind::field) return path_of(*node.children[0]) + "." + node.text;
  refuse("shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind " +
         kind_number(node));
}

/// Returns the name of the Go type of a literal that is not a string.
std::string go_type(const Json& value) {
  if (value.is_bool()) return "bool";
  if (value.is_null()) return "structpb.NullValue";
  return value.is_integer() ? "int64" : "float64";
}

/// Throws unless `text` is 16 digits after "0x", or the end of all hashes.
void check_hash(const std::string& name, const std::string& text) {
  if (!text.starts_with("0x")) refuse(name + " must have '0x' prefix, got " + quoted(text));
  const std::string digits = text.substr(2);
  if (digits.empty()) refuse(name + ": hex value is required after '0x'");
  if (digits.size() > 17)
    refuse(name + ": hex value too long (" + std::to_string(digits.size()) +
           " chars, max 17): " + quoted(digits));
  if (const auto bad = digits.find_first_not_of("0123456789abcdef"); bad != std::string::npos)
    refuse(name + ": invalid hex character " + quoted(digits.substr(bad, 1)) + " in " + quoted(text));
  if (digits.size() == 17 && text != end_of_hashes)
    refuse(name + ": 17-digit hex value must be '0x10000000000000000' (2^64), got " + quoted(text));
  if (digits.size() < 16)
    refuse(name + " must be a 0x-prefixed 16-digit hex value, got " + quoted(text) + " (did you mean " +
           quoted("0x" + std::string(16 - digits.size(), '0') + digits) + "?)");
}

std::string hash_literal(const CelNode& node, const std::string& name) {
  if (node.kind != Kind::literal)
    refuse(name + " must be a string literal (e.g. '0xff'), got expression kind " + kind_number(node));
  const Json& value = node.value.data();
  if (!value.is_string()) refuse(name + " must be a string literal, got " + go_type(value));
  check_hash(name, value.as_string());
  return value.as_string();
}

std::uint64_t number_of(std::string_view hash) {
  std::uint64_t number = 0;
  std::from_chars(hash.data() + 2, hash.data() + hash.size(), number, 16);
  return number;
}

ShardRange range_of(const CelNode& call) {
  // The receiver of a method is not an argument.
  const std::size_t first = call.receiver ? 1 : 0;
  const std::size_t count = call.children.size() - first;
  if (count != 3) refuse("shardRange() requires exactly 3 arguments, got " + std::to_string(count));
  std::string field = path_of(*call.children[first]);
  if (field != by_uid && field != by_namespace)
    refuse("unsupported field path " + quoted(field) +
           "; supported: object.metadata.uid, object.metadata.namespace");
  const std::string start = hash_literal(*call.children[first + 1], "hexStart");
  const std::string end = hash_literal(*call.children[first + 2], "hexEnd");
  const bool less = start.size() != end.size() ? start.size() < end.size() : start < end;
  if (!less) refuse("shard range start " + start + " must be less than end " + end);
  return {std::move(field),
          {number_of(start), end == end_of_hashes ? ~std::uint64_t{0} : number_of(end) - 1}};
}

void add_ranges(const CelNode& node, std::vector<ShardRange>& ranges) {
  if (node.kind == Kind::disjunction) {
    for (const auto& side : node.children) add_ranges(*side, ranges);
    return;
  }
  const std::string function = function_of(node);
  if (function.empty())
    refuse("unexpected expression kind " + kind_number(node) + "; expected shardRange() call or || operator");
  if (function != "shardRange")
    refuse("unsupported function " + quoted(function) + "; only shardRange() and || are allowed");
  ranges.push_back(range_of(node));
}

std::shared_ptr<const CelNode> parsed(std::string_view text) {
  try {
    return parse_cel(text);
  } catch (const CelError& error) {  // "ERROR: <input>:1:5: Syntax error: ..."
    const std::string problem = error.what();
    const std::size_t place = problem.find(": ", problem.find("<input>"));
    refuse("CEL parse error: " + problem.substr(place + 2));
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace shard_query
}  // namespace

ShardQuery::ShardQuery(std::string_view text) {
  if (text.empty()) return;
  text = shard_query::trimmed(text);
  if (text.empty())
    shard_query::refuse("empty shard selector is not allowed; omit the parameter for unfiltered lists");
  std::vector<shard_query::ShardRange> ranges;
  shard_query::add_ranges(*shard_query::parsed(text), ranges);
  for (const shard_query::ShardRange& range : ranges) {
    if (range.field != ranges[0].field)
      shard_query::refuse("all shard ranges must use the same field, got " +
                          shard_query::quoted(ranges[0].field) + " and " + shard_query::quoted(range.field));
    ranges_.push_back(range.hashes);
  }
  field_ = ranges[0].field;
}

bool ShardQuery::matches(const Stored& object) const {
  if (ranges_.empty()) return true;
  const std::uint64_t hash =
      detail::fnv1a(field_ == shard_query::by_uid ? object.uid() : object.namespace_());
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [hash](const HashRange& range) { return range.contains(hash); });
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
