// SPDX-License-Identifier: Apache-2.0
// Objects of many members from a parser, whose order is that of the text. Shared with floors above.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The members of one object in order of arrival. Sorted or small input goes directly into the object; the
/// rest is sorted once at the end, because each insertion into a sorted vector moves the elements after it.
/// Of several members with the same name the last wins.
class MemberCollector {
 public:
  explicit MemberCollector(std::size_t count = 0) { members_.reserve(count); }

  /// Returns the slot of the next member; valid until the next call.
  Json& add(std::string_view name) {
    if (late_.empty() && (members_.size() < few || (members_.end() - 1)->name < name)) return members_[name];
    return late_.emplace_back(Json::Member{std::string(name), Json()}).value;
  }

  /// Returns the object; fewer members than were added mean that names were repeated.
  Json::Object finish() {
    if (!late_.empty()) sort();
    return std::move(members_);
  }

 private:
  void sort() {
    std::vector<Json::Member> all(std::make_move_iterator(members_.begin()),
                                  std::make_move_iterator(members_.end()));
    std::move(late_.begin(), late_.end(), std::back_inserter(all));
    std::stable_sort(all.begin(), all.end(),
                     [](const Json::Member& a, const Json::Member& b) { return a.name < b.name; });
    members_ = Json::Object();
    members_.reserve(all.size());
    for (Json::Member& member : all) members_[member.name] = std::move(member.value);
  }

  /// Up to this many members, insertion in order is cheaper than sorting at the end.
  static constexpr std::size_t few = 64;

  Json::Object members_;
  std::vector<Json::Member> late_;  ///< in order of arrival, all after `members_`.
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
