// SPDX-License-Identifier: Apache-2.0
// A list of the parts of a schema that types do not have.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel::program {

class LostParts {
 public:
  /// `root` is the path of the schema itself, which is left out of what is shown.
  explicit LostParts(std::string root) : root_(std::move(root)) {}

  /// Adds ".spec.servers.items: pattern". `path` begins with the root, or is empty.
  void add(const std::string& path, const std::string& part);
  /// Adds those of `names` that `schema` has.
  void add_members(const Json& schema, const std::string& path,
                   std::initializer_list<std::string_view> names);
  std::vector<std::string> take() { return std::move(parts_); }

 private:
  std::string root_;
  std::vector<std::string> parts_;
};

}  // namespace evenkeel::program
