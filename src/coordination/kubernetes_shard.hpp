// SPDX-License-Identifier: Apache-2.0
// The contents of one object of the Kubernetes store: its text, its conditions, and the outcome of commits.
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

/// The contents of an object. The default is that of an absent or empty object.
struct KubernetesShard {
  Version version = 0;  ///< The version of the last commit; 0: there was none.
  Entries entries = {};
  struct Mark {
    Version version = 0;
    std::string mark = {};
  };
  std::vector<Mark> marks = {};  ///< The marks of the latest commits, oldest first.
  struct Erasure {
    Version version = 0;
    std::string key = {};
  };
  std::vector<Erasure> erasures = {};  ///< The latest erasures, oldest first.
  Version erasures_from = 0;           ///< Erasures up to this version are no longer listed.
};

/// Number of marks and erasures that are kept.
inline constexpr std::size_t kept_marks = 32;
inline constexpr std::size_t kept_erasures = 256;

/// Decodes the data of the ConfigMap; no data means an empty object that a person created for the store.
/// Throws StoreUnavailable, which names `object` and the line, for anything that encode() did not write,
/// which must never be mistaken for an empty store.
KubernetesShard decode_shard(const std::map<std::string, std::string>& data, std::string_view object);
std::map<std::string, std::string> encode_shard(const KubernetesShard& shard);
std::size_t data_bytes(const std::map<std::string, std::string>& data);

/// Returns the first key of `reads` whose version differs.
std::optional<std::string> read_conflict(const Entries& entries, const std::vector<Commit::ReadKey>& reads);
/// Returns the begin of the first of `ranges` in which a key was added, changed or erased after `since`, or
/// may have been erased.
std::optional<std::string> range_conflict(const KubernetesShard& shard, const std::vector<KeyRange>& ranges,
                                          Version since);

/// Returns the shard after `commit`, which must be in normal form, with its mark. The version is the next
/// one, and at least `least`.
KubernetesShard applied(KubernetesShard shard, const Commit& commit, std::string mark, Version least);

/// The outcome of a commit whose answer was lost.
enum class CommitFate : std::uint8_t {
  applied,
  refused,  ///< Another commit took its version: it will never be applied.
  open,     ///< It has not been applied yet.
  unknown,  ///< The object no longer has the marks that would show it.
};
/// Returns the fate of the commit with `mark` that would have followed version `base`; sets `version` if it
/// was applied.
CommitFate fate_of(const KubernetesShard& shard, Version base, std::string_view mark, Version& version);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
