// SPDX-License-Identifier: Apache-2.0
// Computing and applying patches, and applying a typed change to a document that has more fields than the
// type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

enum class PatchType : std::uint8_t {
  json,       ///< RFC 6902: a list of operations.
  merge,      ///< RFC 7386: a document in which null removes; lists are replaced.
  strategic,  ///< Kubernetes' strategic merge, by list keys; built-in kinds only.
  apply,      ///< Server-side apply: the fields that the field owner sets.
};

/// Returns the media type, such as "application/merge-patch+json".
EVENKEEL_API std::string_view content_type(PatchType type) noexcept;

/// The body of a PATCH request and its type.
struct Patch {
  PatchType type = PatchType::merge;
  std::string body = {};

  static Patch json(const Json& operations) { return {PatchType::json, operations.dump()}; }
  static Patch merge(const Json& document) { return {PatchType::merge, document.dump()}; }
  static Patch strategic(const Json& document) { return {PatchType::strategic, document.dump()}; }
  static Patch apply(const Json& document) { return {PatchType::apply, document.dump()}; }
};

/// A patch that cannot be applied. what() names the operation: "operation 2 (remove "/spec/a"): no such
/// member".
class EVENKEEL_API PatchError : public Error {
 public:
  PatchError(std::size_t operation, const std::string& what) : Error(what), operation_(operation) {}
  /// Index of the failed operation.
  std::size_t operation() const { return operation_; }

 private:
  std::size_t operation_;
};

/// Returns the merge patch that turns `before` into `after`; {} if they are equal. A merge patch cannot set
/// null, so null members of `after` count as absent.
EVENKEEL_API Json merge_patch(const Json& before, const Json& after);
/// Applies a merge patch (RFC 7386).
EVENKEEL_API Json apply_merge_patch(Json target, const Json& patch);

/// Returns a JSON patch that turns `before` into `after`; [] if they are equal. Lists are changed from the
/// first to the last item that differs.
EVENKEEL_API Json json_patch(const Json& before, const Json& after);
/// Applies a JSON patch (RFC 6902, all operations). Throws PatchError if any operation fails; `target` is
/// taken by value.
EVENKEEL_API Json apply_json_patch(Json target, const Json& patch);

/// Returns the strategic merge patch that turns `before` into `after`, two objects of one built-in kind that
/// have apiVersion and kind; {} if they are equal. Lists with a key are changed item by item, so that items
/// of other writers stay; one with two items of the same key is replaced. Lists of a kind that is not built
/// in are replaced, too; a real server rejects strategic patches of custom resources. Throws
/// std::invalid_argument if an item of a list has no key.
EVENKEEL_API Json strategic_patch(const Json& before, const Json& after);
template <ObjectType T>
Json strategic_patch(const T& before, const T& after) {
  return strategic_patch(to_tree(before), to_tree(after));
}

/// Applies a typed change to the document that the object was read from. `raw` is that document, `before` its
/// decoded and re-encoded form, `after` the edited form. The result is `raw` with the difference between the
/// two applied, including everything in `raw` that `before` lacks.
/// - Members that are equal before and after keep their value in `raw`; removed members are removed with
///   their contents.
/// - Lists are matched item by item: equal items first (those at the same index, then in order), then objects
///   by key (`type`'s list_map keys, or else `name`), then objects without a key by index. A matched item
///   keeps the fields that the type does not declare; any other item is taken from `after`.
/// - With a `type`, a plain nested struct that is omitted because nothing in it is set counts as {}:
///   unsetting its last field does not remove fields of other writers beside it.
EVENKEEL_API Json overlay(const Json& raw, const Json& before, const Json& after);
EVENKEEL_API Json overlay(const TypeInfo& type, const Json& raw, const Json& before, const Json& after);
template <Described T>
Json overlay(const Json& raw, const T& before, const T& after) {
  return overlay(type_info<T>(), raw, to_tree(before), to_tree(after));
}

}  // namespace v0
}  // namespace evenkeel
