// SPDX-License-Identifier: Apache-2.0
// Cuts the items out of a list's body while it arrives, so that neither the body nor a tree of it ever
// exists in memory.
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
  std::size_t max_metadata_bytes = 1u << 20;  ///< A larger list metadata, kind or member name is an error.
};

/// What a list says about itself.
struct ListMetadata {
  std::string api_version = {};
  std::string kind = {};
  std::string resource_version = {};
  std::string continue_token = {};                   ///< Not empty: there are more pages.
  std::optional<std::int64_t> remaining_items = {};  ///< After this page, if the server says so.
};

/// Reads a List document piece by piece, cut anywhere:
/// `splitter.feed(piece); while (auto item = splitter.next()) use(*item);` and `finish()` at the end.
/// Holds at most one item, and that only if a cut goes through it; every other item is a view into the piece.
/// Items are checked to be objects; what is in them is for their reader to check. Members may come in any
/// order and white space anywhere. Thread safety: one thread at a time. Complexity: linear in the bytes,
/// however they are cut. After a throw the splitter must not be used again.
class EVENKEEL_API ListSplitter {
 public:
  explicit ListSplitter(ListSplitterOptions options = {});
  ~ListSplitter();
  ListSplitter(ListSplitter&&) noexcept;
  ListSplitter& operator=(ListSplitter&&) noexcept;

  /// Hands over the next piece. The piece must stay valid until next() has returned nothing; what an earlier
  /// piece still holds is lost.
  void feed(std::string_view piece);
  /// The text of the next whole item, or nothing if more is needed. Valid until the next call of a member.
  /// Throws DecodeError with the offset if the text is no list or breaks a bound.
  std::optional<std::string_view> next();
  /// To be called when the body has ended. Throws DecodeError if it is cut short or names no items.
  const ListMetadata& finish();

  std::size_t items() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
