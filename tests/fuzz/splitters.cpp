// SPDX-License-Identifier: Apache-2.0
// Bodies of lists and of watches, whole and in pieces: the boundaries of the pieces make no difference.
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/client/frame_splitter.hpp>
#include <evenkeel/client/list_splitter.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

struct Parts {
  std::vector<std::string> items = {};
  std::string end = {};  ///< the metadata, or "error"
  bool operator==(const Parts&) const = default;
};

/// Splits into pieces of 1 to 16 bytes, with lengths derived from `seed`; into one piece if that is 0.
std::vector<std::string_view> pieces(std::string_view body, std::uint32_t seed) {
  std::vector<std::string_view> result;
  while (!body.empty()) {
    seed = seed * 1664525U + (seed == 0 ? 0U : 1013904223U);
    const std::size_t size = seed == 0 ? body.size() : 1 + (seed >> 28U);
    result.push_back(body.substr(0, size));
    body.remove_prefix(result.back().size());
  }
  return result;
}

Parts split_list(std::string_view body, std::uint32_t seed) {
  ListSplitter splitter({.max_item_bytes = 4096, .max_metadata_bytes = 512});
  Parts parts;
  try {
    for (const std::string_view piece : pieces(body, seed)) {
      const std::string copy(piece);  // a piece need not outlive its processing
      splitter.feed(copy);
      while (const auto item = splitter.next()) parts.items.emplace_back(*item);
    }
    const ListMetadata& metadata = splitter.finish();
    parts.end = metadata.api_version + "," + metadata.kind + "," + metadata.resource_version + "," +
                metadata.continue_token + "," + std::to_string(metadata.remaining_items.value_or(-1));
  } catch (const Error&) {
    parts.end = "error";
  }
  return parts;
}

Parts split_frames(std::string_view body, std::uint32_t seed) {
  FrameSplitter splitter({.max_frame_bytes = 512});
  Parts parts;
  try {
    for (const std::string_view piece : pieces(body, seed)) {
      const std::string copy(piece);
      splitter.feed(copy);
      while (const auto frame = splitter.next()) {
        check(frame->find('\n') == std::string_view::npos, "a frame is one line");
        parts.items.emplace_back(*frame);
      }
    }
    parts.end = splitter.in_frame() ? "in a frame" : "between frames";
  } catch (const Error&) {
    parts.end = "error";
  }
  return parts;
}

/// The items before an error must be equal, as far as both have them.
void compare(const Parts& whole, const Parts& cut) {
  check((whole.end == "error") == (cut.end == "error"), "what is refused does not depend on pieces");
  if (whole.end != "error") check(whole == cut, "what is read does not depend on pieces");
  for (std::size_t i = 0; i < whole.items.size() && i < cut.items.size(); ++i)
    check(whole.items[i] == cut.items[i], "items do not depend on pieces");
}

}  // namespace

void splitters(std::string_view input) {
  Reader reader(input);
  const std::uint32_t seed = reader.byte() + 1U;
  const std::string_view body = reader.rest();
  compare(split_list(body, 0), split_list(body, seed));
  compare(split_list(body, 0), split_list(body, 7 * seed));
  compare(split_frames(body, 0), split_frames(body, seed));
}

}  // namespace evenkeel::fuzz
