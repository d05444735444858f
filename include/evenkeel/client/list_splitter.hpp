// SPDX-License-Identifier: Apache-2.0
// Splits the body of a list into items as it arrives, so that neither the body nor its parsed tree is ever in
// memory as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

struct ListSplitterOptions {
  std::size_t max_item_bytes = 64u << 20;     ///< A larger item is an error.
  std::size_t max_metadata_bytes = 1u << 20;  ///< A longer list metadata, kind or member name is an error.
};

/// Metadata of a list.
struct ListMetadata {
  std::string api_version = {};
  std::string kind = {};
  std::string resource_version = {};
  std::string continue_token = {};  ///< Not empty: there are more pages.
  /// Number of items after this page, if the server sends it.
  std::optional<std::int64_t> remaining_items = {};
};

/// Position in a list, between two pieces of it.
enum class ListPlace : std::uint8_t {
  in_item,
  in_metadata,  ///< In a name or value that is no item.
  between,      ///< Only white space or punctuation follows the last item or member so far.
};

/// Splits a List document that arrives in arbitrary pieces.
/// Driver:
///  1. calls feed() with a piece of the body, and uses the items of next() until it returns nullopt;
///  2. calls finish() after the last piece.
/// Buffers at most one item, and only if it spans pieces; every other item is a view into the piece. Items
/// are checked to be objects; their contents are not checked. Members may come in any order, with any white
/// space. Thread safety: one thread at a time. Complexity: linear in the bytes, regardless of the piece
/// sizes. The splitter must not be used after it has thrown.
class EVENKEEL_API ListSplitter {
 public:
  explicit ListSplitter(ListSplitterOptions options = {});
  ~ListSplitter();
  ListSplitter(ListSplitter&&) noexcept;
  ListSplitter& operator=(ListSplitter&&) noexcept;

  /// Provides the next piece, which must stay valid until next() returns nullopt; items left in the previous
  /// piece are lost.
  void feed(std::string_view piece);
  /// Returns the text of the next complete item, or nullopt if more input is needed. Valid until the next
  /// call of a member. Throws DecodeError with the offset if the text is not a list or exceeds a bound.
  std::optional<std::string_view> next();
  /// Must be called at the end of the body. Throws DecodeError if the body is truncated or has no items
  /// member.
  const ListMetadata& finish();

  std::size_t items() const noexcept;
  /// Returns the position after next() returned nullopt.
  ListPlace place() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
