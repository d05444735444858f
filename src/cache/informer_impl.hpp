// SPDX-License-Identifier: Apache-2.0
// The state of an informer, and the declarations of what drives its reflector.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/reflector.hpp>
#include <evenkeel/client/frame_splitter.hpp>
#include <evenkeel/client/list_splitter.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "base/cells.hpp"
#include "cache/collection_file.hpp"
#include "cache/failure_log.hpp"
#include "cache/handler_slot.hpp"
#include "cache/informer_ranges.hpp"
#include "cache/informer_selection.hpp"
#include "cache/object_packer.hpp"
#include "cache/recent_deletions.hpp"
#include "cache/stream_inbox.hpp"
#include "cache/streaming_memory.hpp"
#include "client/request/object_timer.hpp"

namespace evenkeel {
inline namespace v0 {

/// The driver of one reflector. All members except those of the interface run in run(), one call at a time.
class Informer::Impl final : public detail::Job {
 public:
  Impl(Parts parts, InformerOptions options);

  void run() noexcept override;

  void start() {
    {
      MutexLock lock(mutex_);  // of keep()
      started_.store(true, std::memory_order_release);
    }
    parts_.runner->wake(*this);
  }
  const KeptParts& kept() const noexcept { return *kept_.load(std::memory_order_acquire); }
  void change_ranges(const std::function<void(detail::InformerRanges&)>& change) {
    MutexLock lock(mutex_);
    const HashRanges before = ranges_.wanted();
    const bool was_selected = ranges_.is_selected();  // a share of all objects is labelled, too
    change(ranges_);
    divided_.store(ranges_.is_divided(), std::memory_order_release);
    if (ranges_.wanted() == before && ranges_.is_selected() == was_selected) return;
    ranges_changed_.store(true, std::memory_order_release);
    lock.unlock();
    parts_.runner->wake(*this);
  }
  bool holds(std::string_view namespace_) const {
    if (!divided_.load(std::memory_order_acquire)) return true;
    MutexLock lock(mutex_);
    return namespace_.empty() ? !ranges_.is_divided() : ranges_.holds(detail::hash_of(namespace_, hash()));
  }
  void suspect() {
    suspected_.store(true, std::memory_order_release);
    parts_.runner->wake(*this);
  }
  bool keep(KeptParts kept, std::shared_ptr<CollectionSource> source,
            std::shared_ptr<const detail::CollectionFile> copy);
  WireScannerOptions scanner_options() const {
    return {.form = kept().form,
            .projection = kept().projection,
            .api_version = parts_.resource.api_version(),
            .kind = parts_.resource.kind,
            .transform = parts_.transform};
  }
  void stop();
  HandlerId add_handler(std::shared_ptr<EventHandler> handler, HandlerOptions options);
  void remove_handler(HandlerId id);
  bool handler_synced(HandlerId id) const;
  bool wait_for_sync(std::stop_token stop) const;
  InformerHealth health() const;
  bool synced() const {
    MutexLock lock(mutex_);
    return health_.synced;
  }

  Parts parts_;  // changed by keep() only
  const InformerOptions options_;
  const Duration resync_period_;
  const detail::InformerSelection selection_;
  ObjectStore store_;

 private:
  enum class Activity : std::uint8_t { idle, listing, watching, waiting, resting };

  /// Returns the hash of the ranges that are selected.
  NamespaceHash hash() const noexcept {
    return options_.reflector.cell_label.empty() ? NamespaceHash::plain : NamespaceHash::mixed;
  }
  void check_label(const WireObject& object) const;

  void note_index_failure(const IndexFailure& failure);
  void set_kept(KeptParts kept) EVENKEEL_REQUIRES(mutex_) {
    kept_.store(&all_kept_.emplace_back(kept), std::memory_order_release);
  }
  void begin_to_scan();
  void deliver_to_new_handlers();
  void take_ranges();
  bool hold();
  void advance();
  void resync();
  void check_answer();
  void restore();
  void report_restore();
  void choose_first_state();
  void report_streaming();
  void wake_when_due() { parts_.runner->wake_at(*this, std::min({due_, resync_due_, answer_due_})); }
  void begin(const ReflectorStep& step);
  void begin_stream(const ReflectorStep& step);
  void take(detail::StreamInput& input);
  void opened(const detail::StreamInput& input);
  void take_list(std::string_view piece);
  WireObject stored_or(WireObject object) const;
  WireObject packed(WireObject object);
  void take_frames(std::string_view piece);
  void take_event(std::string_view frame);
  void carry_out(WatchVerdict verdict);
  void ended(const std::exception_ptr& error);
  void failed(const ReflectorFailure& failure);
  void store(ReflectorChange change);
  void begin_gap();
  void finish_stream() {
    if (activity_ == Activity::watching) begin_gap();
    answer_due_ = TimePoint::max();
    inbox_->end_stream();
    activity_ = Activity::idle;
  }
  TimePoint now() const { return parts_.runner->clock().now(); }
  void publish();
  void log_failure(TimePoint next);

  // Used by run() only.
  std::optional<WireScanner> scanner_;            // once begun_
  std::unique_ptr<detail::ObjectPacker> packer_;  // null if objects are not compressed
  Reflector reflector_;
  detail::RecentDeletions deletions_;
  std::shared_ptr<detail::StreamInbox> inbox_;
  ListSplitter list_splitter_;
  FrameSplitter frame_splitter_;
  detail::ObjectTimer object_timer_;
  std::string error_body_;
  http::Headers error_headers_;
  int status_ = 0;
  Activity activity_ = Activity::idle;
  TimePoint due_ = TimePoint::max();  // end of the wait, or of the time for progress of a streaming list
  TimePoint resync_due_ = TimePoint::max();
  // Time limit of the response's head, then of the rest of a list or of an error.
  TimePoint answer_due_ = TimePoint::max();
  Duration head_timeout_{};                // of the running request
  TimePoint list_due_ = TimePoint::max();  // time limit of all pages of the list
  std::optional<TimePoint> last_event_;
  std::optional<TimePoint> failing_since_;
  detail::FailureLog failure_log_;
  detail::FailureLog unreadable_log_;  // an object that cannot be read, which each attempt meets again
  bool begun_ = false;                 // the first step was taken
  bool checks_labels_ = false;         // the label of each object has to be checked
  bool streams_ = false;               // a streaming list was advised, and its outcome was not reported yet
  unsigned streaming_waits_ = 0;       // in a row
  Span gap_;                           // from the end of a watch until the next one is open
  bool unreachable_ = false;           // reported to the server's log, but not its recovery
  std::vector<std::shared_ptr<detail::HandlerSlot>>
      notified_;  // handlers that have received all changes so far

  std::atomic<bool> started_ = false;         // pairs with the load in run()
  std::atomic<bool> suspected_ = false;       // likewise
  std::atomic<bool> ranges_changed_ = false;  // likewise
  std::atomic<bool> divided_ = false;         // ranges_.is_divided()
  mutable Mutex mutex_;
  std::deque<KeptParts> all_kept_ EVENKEEL_GUARDED_BY(mutex_);  // kept() has returned references to them
  std::atomic<const KeptParts*> kept_ = nullptr;
  mutable CondVar changed_;  // synced, or stopped
  detail::InformerRanges ranges_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<detail::HandlerSlot>> slots_ EVENKEEL_GUARDED_BY(mutex_);
  InformerHealth health_ EVENKEEL_GUARDED_BY(mutex_);  // its bytes: those of a running list
  HandlerId last_id_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool slots_changed_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::uint64_t index_failures_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::set<std::string> not_indexed_ EVENKEEL_GUARDED_BY(mutex_);  // index and object; those that were logged
  bool stopped_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace v0
}  // namespace evenkeel
