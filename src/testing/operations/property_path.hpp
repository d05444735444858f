// SPDX-License-Identifier: Apache-2.0
// The way from the root of a document to one of its values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

class PropertyPath {
 public:
  /// Parses `spec.ports[0].settings["a.b"]`; throws std::invalid_argument.
  static PropertyPath parse(std::string_view text);

  PropertyPath member(std::string_view name) const;
  PropertyPath item(std::size_t index) const;
  bool empty() const { return steps_.empty(); }
  std::size_t size() const { return steps_.size(); }
  /// Name of the last member; empty for items.
  std::string name() const;
  /// Returns the text that parse() accepts, in the notation of differences().
  std::string str() const;

  /// Returns null if there is no such value.
  const Json* find(const Json& document) const;
  /// Makes missing objects and lists on the way. An index beyond the last item appends.
  void set(Json& document, Json value) const;
  /// Removes the member or item, if it exists.
  void erase(Json& document) const;

 private:
  struct Step {
    std::optional<std::size_t> index = {};
    std::string name = {};  // if there is no index
  };
  void read_step(std::string_view text, std::size_t& at);

  std::vector<Step> steps_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
