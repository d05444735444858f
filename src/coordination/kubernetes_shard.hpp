// SPDX-License-Identifier: Apache-2.0
// What one object of the Kubernetes store holds: its text, its conditions, and what became of a commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

using Entries = std::map<std::string, Entry, std::less<>>;

/// The contents of an object. The default is that of one that does not exist, or is empty.
struct KubernetesShard {
  Version version = 0;  ///< Of the last commit; 0: there was none.
  Entries entries = {};
  struct Mark {
    Version version = 0;
    std::string mark = {};
  };
  std::vector<Mark> marks = {};  ///< Of the last commits, oldest first.
  struct Erasure {
    Version version = 0;
    std::string key = {};
  };
  std::vector<Erasure> erasures = {};  ///< The last ones, oldest first.
  Version erasures_from = 0;           ///< Those of this version and before are not listed any more.
};

/// How many marks and erasures are kept.
inline constexpr std::size_t kept_marks = 32;
inline constexpr std::size_t kept_erasures = 256;

/// The data of the ConfigMap; none at all is that of one which somebody made for the store to fill. Throws
/// StoreUnavailable, which names `object` and the line, for what encode() did not write: it must never pass
/// for an empty store.
KubernetesShard decode_shard(const std::map<std::string, std::string>& data, std::string_view object);
std::map<std::string, std::string> encode_shard(const KubernetesShard& shard);
std::size_t data_bytes(const std::map<std::string, std::string>& data);

/// The first key of `reads` that is not as it was.
std::optional<std::string> read_conflict(const Entries& entries, const std::vector<Commit::ReadKey>& reads);
/// Where the first of `ranges` begins in which something came, changed or went after `since`, or may have
/// gone.
std::optional<std::string> range_conflict(const KubernetesShard& shard, const std::vector<KeyRange>& ranges,
                                          Version since);

/// The shard after `commit`, which is in normal form, with its mark. The version is the next one, and at
/// least `least`.
KubernetesShard applied(KubernetesShard shard, const Commit& commit, std::string mark, Version least);

/// What became of a commit whose answer was lost.
enum class CommitFate : std::uint8_t {
  applied,
  refused,  ///< Another one took its place: it will never be applied.
  open,     ///< It was not applied yet.
  unknown,  ///< The object does not tell any more.
};
/// Of the commit with `mark` that would have followed version `base`; `version` is set if it was applied.
CommitFate fate_of(const KubernetesShard& shard, Version base, std::string_view mark, Version& version);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
