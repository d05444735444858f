// SPDX-License-Identifier: Apache-2.0
// Options of a reflector, and the requests that it makes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Options of a Reflector.
struct ReflectorOptions {
  std::size_t page_size = 500;  ///< Items per page of a list that may be paged; > 0.
  /// Minimum timeout of a watch; the maximum is twice that. Whole seconds, at least 1.
  std::chrono::seconds watch_timeout = std::chrono::minutes{5};
  Duration backoff_base = std::chrono::milliseconds{
      800};  ///< First wait; a random part of up to the same length is added to each.
  Duration backoff_max = std::chrono::seconds{30};  ///< Ceiling before the random part; >= backoff_base.
  /// Ceiling while the server does not know the kind: a CustomResourceDefinition may be created at any time,
  /// and a program that waits for it should notice soon. > 0.
  Duration missing_max = std::chrono::seconds{10};
  Duration backoff_reset =
      std::chrono::minutes{2};  ///< Time without a wait after which the next is backoff_base.
  Duration short_watch =
      std::chrono::seconds{1};  ///< A watch that ends sooner, without events, is a failure.
  /// Number of consecutive watches that may end sooner in spite of events; the next one is a failure.
  unsigned short_watches = 3;
  /// Time without data after which a watch that is suspected to be behind counts as dead; see
  /// Reflector::on_suspicion().
  Duration suspicious_silence = std::chrono::seconds{5};
  Duration retry_after_max =
      std::chrono::minutes{2};  ///< Maximum Retry-After; longer ones are shortened to it.
  /// Time limit of the response's head, > 0; beyond it the server counts as unreachable. An API server sends
  /// the head of a watch immediately, and gives up a list after a minute. The body of an error has as much
  /// time again, after which the request fails with the error as far as it has come.
  Duration watch_head_timeout = std::chrono::seconds{30};
  Duration list_head_timeout = std::chrono::seconds{75};
  /// Time limit of a list with all its pages, for lists that make progress but do not end; > 0. The default
  /// suffices for 2 GiB at 1.2 MB/s.
  Duration list_timeout = std::chrono::minutes{30};
  /// Maximum number of pages of a list, and of bytes of its objects in memory. A list beyond either fails,
  /// and its objects are dropped.
  std::size_t max_list_pages = 100'000;
  std::size_t max_list_bytes = std::size_t{2} << 30;
  /// If true, reads complete states as streaming lists (watches with sendInitialEvents), and in pages only if
  /// that fails. Servers before Kubernetes 1.32, some aggregated servers and some proxies do not support
  /// them; informers remember that for an hour, for each kind or for the whole server.
  bool streaming_list = true;
  /// Maximum time without progress in a streaming list; beyond it the list is read in pages. Progress means
  /// the acceptance of the request, and each addition before the first other event. So a list of any size may
  /// take its time, but a list whose end is never marked is given up even if its watch has events.
  Duration streaming_deadline = std::chrono::seconds{30};
  /// Maximum time without an event after which a watch that resumes a copy from before the start counts as
  /// caught up, if no event or bookmark has shown that before. Servers send the events that such a watch has
  /// missed at once, from memory; four times as long as the server took to accept the watch is enough, and
  /// 20 ms at least.
  Duration restore_settle = std::chrono::milliseconds{200};
  /// Key of the label by which the server selects the ranges of Reflector::reselect(); its values are those
  /// of cell_of(). Objects of the ranges whose label is missing or not a cell are kept, too, if the server
  /// sends them. Empty: the server selects by shardSelector.
  std::string cell_label = {};
  std::function<double()> random = {};  ///< Returns numbers in [0, 1); empty: always 0.
};

/// A request for one page, or for all objects.
struct ListRequest {
  std::string resource_version = {};  ///< "": the newest, "0": any version in the server's memory.
  std::string continue_token = {};    ///< Not empty: a further page; resource_version must not be sent.
  std::size_t limit = 0;              ///< 0: no paging.
  std::string shard_selector = {};    ///< Selects the objects by the hashes of their namespaces; "": all.
  std::string label_selector = {};    ///< Selects them by ReflectorOptions::cell_label; "": all.
  bool operator==(const ListRequest&) const = default;
};

/// A request to watch the kind. Bookmarks are always requested.
struct WatchRequest {
  std::string resource_version = {};
  std::chrono::seconds timeout = {};
  bool initial_events =
      false;  ///< A streaming list: with sendInitialEvents and resourceVersionMatch=NotOlderThan.
  std::string shard_selector = {};  ///< As of a ListRequest, like the next one.
  std::string label_selector = {};
  bool operator==(const WatchRequest&) const = default;
};

/// A wait before the next step.
struct PauseRequest {
  Duration delay = {};
  bool operator==(const PauseRequest&) const = default;
};

/// Nothing to do until Reflector::reselect().
struct IdleRequest {
  bool operator==(const IdleRequest&) const = default;
};

using ReflectorStep = std::variant<ListRequest, WatchRequest, PauseRequest, IdleRequest>;

/// Returns the query parameters of a request, in a fixed order. Pauses and idle times have none.
EVENKEEL_API std::vector<std::pair<std::string, std::string>> query_of(const ReflectorStep& step);

/// Counters since the start.
struct ReflectorCounters {
  std::uint64_t lists = 0;                ///< Lists in pages started; a page is not a list.
  std::uint64_t streaming_lists = 0;      ///< Streaming lists started.
  std::uint64_t streaming_fallbacks = 0;  ///< Streaming lists that failed, so that a list followed at once.
  std::uint64_t growths = 0;      ///< Lists started of further ranges only; see Reflector::reselect().
  std::uint64_t restores = 0;     ///< Copies from before the start that were taken over.
  std::uint64_t watches = 0;      ///< Watches started, streaming lists included.
  std::uint64_t events = 0;       ///< Events of watches, bookmarks included.
  std::uint64_t expired = 0;      ///< Responses that a resourceVersion is too old or too new.
  std::uint64_t failures = 0;     ///< Failures that caused a wait.
  std::uint64_t undecodable = 0;  ///< Responses and objects that could not be decoded.
};

/// Objects on which a cache sets the label ReflectorOptions::cell_label, because it was missing or wrong.
struct CellLabelCounts {
  std::uint64_t labelled = 0;  ///< Objects labelled since the start.
  std::uint64_t failures = 0;  ///< Patches that failed; they are retried.
  std::size_t waiting = 0;     ///< Objects that are being patched, or wait for it.
};

}  // namespace v0
}  // namespace evenkeel
