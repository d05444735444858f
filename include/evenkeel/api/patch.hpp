// SPDX-License-Identifier: Apache-2.0
// Patches: computed from two documents, applied to one, and the typed change carried onto a document
// that knows more fields than the type.
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
  merge,      ///< RFC 7386: a document; null removes; lists are replaced.
  strategic,  ///< Kubernetes' own merge, by list keys; built-in kinds only.
  apply,      ///< Server-side apply: the fields that the field owner wants.
};

/// "application/merge-patch+json" and so on.
EVENKEEL_API std::string_view content_type(PatchType type) noexcept;

/// What is sent in a PATCH request.
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
  /// Index of the failing operation.
  std::size_t operation() const { return operation_; }

 private:
  std::size_t operation_;
};

/// The merge patch that makes `after` of `before`; {} if they are equal. A merge patch cannot say null:
/// members of `after` that are null count as absent.
EVENKEEL_API Json merge_patch(const Json& before, const Json& after);
/// RFC 7386.
EVENKEEL_API Json apply_merge_patch(Json target, const Json& patch);

/// A JSON patch that makes `after` of `before`; [] if they are equal. Lists are changed from the first
/// to the last item that differs.
EVENKEEL_API Json json_patch(const Json& before, const Json& after);
/// RFC 6902, all operations; either all of them apply or it throws PatchError.
EVENKEEL_API Json apply_json_patch(Json target, const Json& patch);

/// Carries a typed change onto the document that the object was read from. `raw` is that document,
/// `before` what the type made of it, `after` the same edited; the result is `raw` with the difference
/// of the two, and everything in it that `before` does not know.
/// - Members that are equal before and after are left as they stand in `raw`; members that went are
///   removed, with all in them.
/// - Lists are matched item by item: equal items first (those in their old place, then in order), then
///   objects by their key (`type`'s list_map keys, or else `name`), then objects without a key by their
///   place. A matched item keeps what the type does not declare; any other is as `after` has it.
/// - With a `type`, a plain nested struct that is left out because nothing in it is set counts as {}:
///   unsetting its last field does not remove what others wrote beside it.
EVENKEEL_API Json overlay(const Json& raw, const Json& before, const Json& after);
EVENKEEL_API Json overlay(const TypeInfo& type, const Json& raw, const Json& before, const Json& after);
template <Described T>
Json overlay(const Json& raw, const T& before, const T& after) {
  return overlay(type_info<T>(), raw, to_tree(before), to_tree(after));
}

}  // namespace v0
}  // namespace evenkeel
