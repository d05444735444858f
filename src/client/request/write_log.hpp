// SPDX-License-Identifier: Apache-2.0
// Log of the writes of a client and its copies, by which controllers recognize the events that their own
// writes cause. Shared with floors above.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Meaning of the body of a write.
enum class SentForm : std::uint8_t {
  document,   ///< The whole object; members that are missing are removed.
  merge,      ///< A merge patch: null removes, lists are replaced.
  strategic,  ///< A strategic merge patch.
  apply,      ///< A server-side apply.
  json,       ///< A JSON patch.
  opaque,     ///< Unknown. `body` is empty.
};

/// A write that the server answered with the object.
struct LoggedWrite {
  std::string uid = {};
  std::string version = {};  ///< The resourceVersion of the answer.
  /// The resourceVersion that the server compared with the current one: nothing was written between this and
  /// `version`. Empty: the write was sent without.
  std::string base = {};
  std::uint64_t writer = 0;  ///< See WriteLog::new_writer(); 0: a client of no controller.
  SentForm form = SentForm::opaque;
  std::string body = {};  ///< Empty for a document with a base: the two versions say all.
  bool removes = false;   ///< A deletion, of which only `uid` and `writer` are known.
};
using LoggedWrites = std::vector<std::shared_ptr<const LoggedWrite>>;

/// Identity and version of an object; both are empty if they are not known.
struct AnsweredVersion {
  std::string uid = {};
  std::string version = {};
};

/// Returns true for a request that writes nothing.
bool is_dry_run(const RestRequest& request);

/// Reads them from an object's document. Complexity: scans it up to its metadata, without parsing it into
/// values.
AnsweredVersion version_in(std::string_view document);

/// A state of an object. Its kind is left out: the uid tells it.
struct ObjectVersion {
  std::string_view namespace_ = {};
  std::string_view name = {};
  std::string_view uid = {};
  std::string_view version = {};
};

/// The last writes to each object. Bounded: the oldest are forgotten, which costs a reader no more than that
/// it takes an own write for one of somebody else.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API WriteLog {
 public:
  static constexpr std::size_t max_writes = 4096;
  static constexpr std::size_t max_writes_of_object = 64;
  static constexpr std::size_t max_bytes = std::size_t{4} << 20;
  /// A longer body is not kept.
  static constexpr std::size_t max_body = max_bytes / 16;

  /// Starts recording; before, on_answer() does nothing.
  void enable() noexcept { enabled_.store(true, std::memory_order_relaxed); }
  /// Returns an identity for CallOptions::writer, never 0.
  std::uint64_t new_writer() noexcept { return last_writer_.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// Records the answer to a successful request. Ignores requests that write no single object (reads,
  /// creations of subresources, dry runs), and answers without uid or version. Complexity: scans the answer,
  /// without parsing it into values.
  void on_answer(const RestRequest& request, std::string_view answer, std::uint64_t writer);

  /// A write from before it is sent until its answer is recorded, or known to be lost.
  class EVENKEEL_API Pending {
   public:
    /// Does nothing for requests that change no existing object.
    Pending(std::shared_ptr<WriteLog> log, const RestRequest& request, std::uint64_t writer);
    ~Pending() { end(); }
    Pending(Pending&&) noexcept = default;
    Pending& operator=(Pending&&) = delete;
    void end() noexcept;

   private:
    std::shared_ptr<WriteLog> log_;  // null: nothing to end
    std::string key_;
    std::uint64_t writer_ = 0;
  };

  void add(LoggedWrite write) EVENKEEL_EXCLUDES(mutex_);

  /// Returns the creation and the changes of an object by `reader` or by a client of no controller, in the
  /// order of their answers.
  LoggedWrites writes_to(std::string_view uid, std::uint64_t reader) const EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if the state `version` of an object may be the effect of a write by `reader` or by a client
  /// of no controller: it is that of an answer, or the answer to a write to such an object is still to come.
  bool may_have_written(const ObjectVersion& state, std::uint64_t reader) const EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if `reader`, or a client of no controller, wrote the object and none of them deleted it.
  bool cares_for(std::string_view uid, std::uint64_t reader) const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the number of writes in the log.
  std::size_t size() const EVENKEEL_EXCLUDES(mutex_);

 private:
  using Entry = std::shared_ptr<const LoggedWrite>;

  void forget_oldest() EVENKEEL_REQUIRES(mutex_);
  bool is_pending(const std::string& key, std::uint64_t reader) const EVENKEEL_REQUIRES(mutex_);

  std::atomic<bool> enabled_ = false;  // orders nothing: what is written before it is seen is not recorded
  std::atomic<std::uint64_t> last_writer_ = 0;
  mutable Mutex mutex_;
  std::deque<Entry> order_ EVENKEEL_GUARDED_BY(mutex_);                                     // oldest first
  std::unordered_map<std::string, std::deque<Entry>> objects_ EVENKEEL_GUARDED_BY(mutex_);  // by uid
  std::size_t bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  // Writers by namespace and name.
  std::unordered_multimap<std::string, std::uint64_t> pending_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
