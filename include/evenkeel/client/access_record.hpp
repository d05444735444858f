// SPDX-License-Identifier: Apache-2.0
// The accesses that were observed in the requests of a program.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/client/access.hpp>

namespace evenkeel {
inline namespace v0 {

/// A set of accesses of bounded size: more than 16 names of a resource in a namespace count as "*", and so do
/// more than 16 namespaces; of more than 1,000 pairs of a verb and a resource, later ones are left out.
/// Regular. Thread safety: like standard containers.
class EVENKEEL_API AccessRecord {
 public:
  AccessRecord() = default;
  /// Reads what str() returned; lines that are empty or begin with '#' are skipped. Throws DecodeError with
  /// `where` and the line, "access.txt:3: expected ...".
  static AccessRecord parse(std::string_view text, const std::string& where);

  /// Returns true if it was not there yet.
  bool add(const Access& access);
  void add(const AccessRecord& other);
  /// Returns the accesses, sorted by verb, group, resource, namespace and name.
  std::vector<Access> accesses() const;
  bool empty() const noexcept { return kinds_.empty(); }
  /// Returns a line for each access: verb, group, resource, namespace and name, "-" for an empty one. Bytes
  /// other than visible ASCII, and '%', are percent-encoded, so that no name is more than a word.
  std::string str() const;
  bool operator==(const AccessRecord&) const = default;

 private:
  struct Kind {
    std::string verb, group, resource;
    auto operator<=>(const Kind&) const = default;
  };
  using Names = std::set<std::string>;
  std::map<Kind, std::map<std::string, Names>> kinds_;
};

}  // namespace v0
}  // namespace evenkeel
