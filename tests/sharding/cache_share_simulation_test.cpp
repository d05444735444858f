// SPDX-License-Identifier: Apache-2.0
// Replicas whose informers hold the share of the ring that they need, through storms of faults: lists are
// lost, late or expired, watches break, replicas pause, crash and leave. No key runs twice at a time, none
// before its objects are cached, none is lost, and nothing of others stays in memory. The server selects by
// hash, or by a label, which users remove and change.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "../support/sanitized.hpp"
#include "base/cells.hpp"
#include "base/fnv1a.hpp"
#include "cache/label_core.hpp"
#include "sharding/needed_ranges.hpp"
#include "sharding_world.hpp"

namespace evenkeel::sharding_simulation {
namespace {

constexpr std::size_t kind_count = 2;  // the reconciled one, and one that it owns

/// A namespace for each slot, in the order of their hashes; with names of which equal ranges would have 2
/// slots.
std::vector<std::string> namespaces() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < slot_count; ++i) names.push_back("team-" + std::to_string(i));
  std::sort(names.begin(), names.end(), [](const std::string& left, const std::string& right) {
    return detail::fnv1a(left) < detail::fnv1a(right);
  });
  return names;
}

/// The way in which the server selects.
enum class By : std::uint8_t { hash, label };

/// A namespace for each slot of a ring by cells, in their order.
std::vector<std::string> namespaces_of_cells() {
  std::vector<std::string> names(slot_count);
  const detail::SlotRanges ranges = detail::SlotRanges::of_cells(slot_count);
  for (std::size_t i = 0, found = 0; found < slot_count; ++i) {
    const std::string name = "team-" + std::to_string(i);
    std::string& place = names[detail::slot_in(ranges, name, "", NamespaceHash::mixed)];
    found += place.empty() ? 1 : 0;
    if (place.empty()) place = name;
  }
  return names;
}

/// Returns the selection of a request by hash.
HashRanges ranges_of(const std::string& text) {
  if (text.empty()) return HashRanges::all();
  std::vector<HashRange> ranges;
  for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at)) {
    const std::string first = text.substr(at + 1, 18);
    at = text.find('\'', text.find('\'', at + 1) + 1);
    const std::string end = text.substr(at + 1, text.find('\'', at + 1) - at - 1);
    at = text.find('\'', at + 1) + 1;
    ranges.push_back({std::strtoull(first.c_str(), nullptr, 16),
                      end.size() > 18 ? ~std::uint64_t{0} : std::strtoull(end.c_str(), nullptr, 16) - 1});
  }
  return HashRanges(std::move(ranges));
}

/// An object as the server has it.
struct Stored {
  std::string space;
  std::string name;
  std::uint64_t version;
  std::string cell = {};  // value of the label; empty: it has none

  std::string json() const {
    const std::string labels = cell.empty() ? "" : R"("labels":{"cell":")" + cell + "\"},";
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{)" + labels + R"("namespace":")" + space +
           R"(","name":")" + name + R"(","uid":"u","resourceVersion":")" + std::to_string(version) + "\"}}";
  }
};

/// The selection of a request.
class Selection {
 public:
  Selection() = default;
  template <class Request>
  explicit Selection(const Request& request)
      : ranges_(ranges_of(request.shard_selector)),
        labels_(request.label_selector.empty() ? LabelSelector()
                                               : LabelSelector::parse(request.label_selector)) {}

  bool is_all() const { return ranges_.is_all() && labels_.empty(); }
  bool takes(const Stored& object) const {
    std::map<std::string, std::string> labels;
    if (!object.cell.empty()) labels["cell"] = object.cell;
    return ranges_.contains(detail::fnv1a(object.space)) && labels_.matches(labels);
  }

 private:
  HashRanges ranges_ = HashRanges::all();
  LabelSelector labels_ = {};
};

/// The objects of one kind, with the events of its watches.
struct Collection {
  struct Event {
    std::string type;
    Stored object;
    std::optional<Stored> before = {};

    /// Returns the frame of a watch with this selection; empty if it has none. An object that leaves the
    /// selection was deleted, for the watch.
    std::string frame(const Selection& selection) const {
      const bool was = before && selection.takes(*before);
      const bool is = type != "DELETED" && selection.takes(object);
      if (!was && !is) return {};
      Stored shown = object;
      if (!is) shown.cell = before->cell;
      return std::string(R"({"type":")") +
             (!is   ? "DELETED"
              : was ? "MODIFIED"
                    : "ADDED") +
             R"(","object":)" + shown.json() + "}\n";
    }
  };
  std::map<std::pair<std::string, std::string>, Stored> objects = {};
  std::vector<Event> events = {};

  void put(Stored object) {
    Stored& stored = objects[{object.space, object.name}];
    const bool fresh = stored.version == 0;
    events.push_back({fresh ? "ADDED" : "MODIFIED", object, fresh ? std::nullopt : std::optional(stored)});
    stored = std::move(object);
  }
  /// Sets the label, if the object exists.
  void patch(const std::string& space, const std::string& name, const std::string& cell,
             std::uint64_t& version) {
    const auto found = objects.find({space, name});
    if (found != objects.end() && found->second.cell != cell) put({space, name, ++version, cell});
  }
  void remove(const std::string& space, const std::string& name, std::uint64_t version) {
    const auto found = objects.find({space, name});
    if (found == objects.end()) return;
    const Stored before = found->second;
    found->second.version = version;
    events.push_back({"DELETED", found->second, before});
    objects.erase(found);
  }
};

struct StreamCall final : http::Call {
  void cancel() noexcept override { cancelled = true; }
  bool cancelled = false;
};

/// A request of an informer.
struct Stream {
  ReflectorStep step;
  std::shared_ptr<http::StreamHandler> handler;
  std::shared_ptr<StreamCall> call;
};

/// Collects the requests of an informer until the world takes them.
struct Source final : CollectionSource {
  std::shared_ptr<http::Call> stream(const ReflectorStep& step,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    auto call = std::make_shared<StreamCall>();
    requests.push_back({step, std::move(handler), call});
    return call;
  }
  std::vector<Stream> requests = {};
};

/// The queue of a replica's controller: namespaces.
struct Keys final : EventHandler {
  void on_event(const ObjectEvent& event) noexcept override {
    if (owns(std::string(event.object->namespace_()))) queue.emplace(event.object->namespace_());
  }
  std::function<bool(const std::string&)> owns;
  std::set<std::string> queue = {};
};

/// The process of a replica: its informers, and what its controller has to do.
struct Process {
  struct Kind {
    std::shared_ptr<Source> source = std::make_shared<Source>();
    std::unique_ptr<Informer> informer = {};
    std::optional<Stream> watch = {};
    Selection watched = {};
    std::size_t position = 0;    // in the events
    Duration silent_until = {};  // of the watch
  };
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<detail::JobRunner> runner = std::make_shared<detail::JobRunner>(clock, 0);
  std::shared_ptr<Keys> keys = std::make_shared<Keys>();
  std::array<Kind, kind_count> kinds = {};
  detail::NeededRanges share = {};
  detail::LabelCore labels = {};
  std::optional<HashRanges> needed = {};
  Duration began = {};
  std::size_t number = 0;
  double rate = 1;  // of the clock
};

class CacheWorld final : public World {
 public:
  CacheWorld(std::uint64_t seed, std::size_t count, By by = By::hash)
      : World(seed, std::vector<std::string>(count, by == By::hash ? "namespace-range" : "namespace-cell")),
        by_(by),
        spaces_(by == By::hash ? namespaces() : namespaces_of_cells()) {
    for (const std::string& space : spaces_) {
      for (Collection& kind : kinds_) kind.put({space, "base", ++version_});
    }
  }

  /// Returns the objects whose label is not that of their namespace.
  std::vector<std::string> mislabelled() const {
    std::vector<std::string> names;
    for (const Collection& kind : kinds_) {
      for (const auto& [key, object] : kind.objects) {
        if (object.cell != cell_of(key.first))
          names.push_back(key.first + "/" + key.second + " " + object.cell);
      }
    }
    return names;
  }
  std::size_t patches() const { return patches_; }

  /// Returns the namespaces whose present objects no run has seen.
  std::vector<std::string> lost() const {
    std::vector<std::string> names;
    for (const std::string& space : spaces_) {
      const auto seen = seen_.find(space);
      if (seen == seen_.end() || seen->second != present(space)) names.push_back(space);
    }
    return names;
  }
  /// Returns the differences between what the replicas hold and what they need.
  std::vector<std::string> misheld() {
    std::vector<std::string> problems;
    for (auto& [each, process] : processes_) {
      for (std::size_t kind = 0; kind < kind_count; ++kind) {
        for (const std::string& space : spaces_) {
          const bool needs = process->needed && process->needed->contains(hash(space));
          const std::string expected = needs ? present(kind, space) : "";
          if (held(*process, kind, space) != expected)
            problems.push_back(each->member + " " + space + ": " + held(*process, kind, space) +
                               "instead of " + expected + state_of(*process->kinds[kind].informer));
        }
      }
    }
    return problems;
  }
  std::size_t most_held() const {
    std::size_t most = 0;
    for (const auto& [each, process] : processes_) most = std::max(most, process->kinds[0].informer->size());
    return most;
  }
  void touch_all() {
    for (const std::string& space : spaces_) kinds_[0].put({space, "base", ++version_});
  }
  std::size_t growths() const { return growths_; }
  std::size_t lists() const { return lists_; }
  std::size_t waits() const { return waits_; }
  std::size_t expired = 0;

 private:
  std::vector<std::uint64_t> hashes() const override {
    std::vector<std::uint64_t> all;
    for (const std::string& space : spaces_) all.push_back(detail::fnv1a(space));
    return all;
  }

  std::uint64_t hash(const std::string& space) const {
    return detail::hash_of(space, by_ == By::hash ? NamespaceHash::plain : NamespaceHash::mixed);
  }

  // ---- What is there, and what is seen

  std::string present(std::size_t kind, const std::string& space) const {
    std::string text;
    for (auto at = kinds_[kind].objects.lower_bound({space, ""});
         at != kinds_[kind].objects.end() && at->first.first == space; ++at)
      text += at->second.name + "@" + std::to_string(at->second.version) + " ";
    return text;
  }
  std::string present(const std::string& space) const { return present(0, space) + present(1, space); }
  static std::string held(const Process& process, std::size_t kind, const std::string& space) {
    std::string text;
    for (const WireObject& object : process.kinds[kind].informer->store().list(space))
      text += std::string(object.name()) + "@" + std::string(object.resource_version()) + " ";
    return text;
  }
  static std::string state_of(const Informer& informer) {
    const InformerHealth health = informer.health();
    return "(" + health.activity + " " + health.resource_version + " " + health.last_error + ")";
  }
  static bool has_base(const Process& process, const std::string& space) {
    return std::all_of(process.kinds.begin(), process.kinds.end(), [&](const Process::Kind& kind) {
      return static_cast<bool>(kind.informer->store().find(space, "base"));
    });
  }

  // ---- The controller

  bool takes(Replica& each, std::size_t key) override {
    const auto found = processes_.find(&each);
    if (found == processes_.end()) return false;
    Process& process = *found->second;
    const std::string& space = spaces_[key];
    if (!process.keys->queue.contains(space)) return false;
    const bool holds = std::all_of(process.kinds.begin(), process.kinds.end(),
                                   [&](const Process::Kind& kind) { return kind.informer->holds(space); });
    if (!holds) {
      ++waits_;
      return false;
    }
    process.keys->queue.erase(space);
    EXPECT_TRUE(has_base(process, space)) << space << " runs before its objects are cached";
    seen_[space] = held(process, 0, space) + held(process, 1, space);
    return true;
  }
  void on_gained(Replica& each, Slot slot) override {
    Process& process = process_of(each);
    for (const Process::Kind& kind : process.kinds) {
      if (!kind.informer->store().list(spaces_[slot]).empty()) process.keys->queue.insert(spaces_[slot]);
    }
  }
  void on_joined(Replica& each) override { process_of(each).share.on_joined(); }
  void on_crash(Replica& each) override { processes_.erase(&each); }

  void after_step(Replica& each, double faults) override {
    Process& process = process_of(each);
    if (each.shards && each.shards->table() && each.is_member(now())) {
      if (chance() < 0.5) reconcile(each);  // between the gain of a slot and what follows
      std::vector<bool> used(slot_count);
      for (const auto& [slot, generation] : each.owned) used[slot] = true;
      for (const auto& [slot, generation] : each.draining) used[slot] = true;
      for (const auto& [slot, run] : each.runs) used[slot] = true;
      if (auto needed = process.share.next_needed(*each.shards->table(), each.member, used)) {
        for (Process::Kind& kind : process.kinds) kind.informer->select(*needed);
        process.needed = std::move(needed);
      }
    }
    const auto age = std::chrono::duration_cast<Duration>((now() - process.began) * process.rate);
    process.clock->advance(age - process.clock->now().time_since_epoch());
    for (std::size_t kind = 0; kind < kind_count; ++kind) watch(process, kind, faults);
    if (chance() < 0.7 || faults <= 0) process.runner->pump();  // the informers may be late
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
      for (Stream& request : std::exchange(process.kinds[kind].source->requests, {}))
        send(each, kind, std::move(request), faults);
    }
    while (auto task = process.labels.next_task(process.clock->now())) label(each, *task, faults);
  }
  /// Patches the label of an object.
  void label(Replica& each, const detail::LabelCore::Task& task, double faults) {
    const std::size_t sender = process_of(each).number;
    const std::size_t kind = task.resource.plural == "configmaps" ? 0 : 1;
    exchange(
        faults,
        [this, kind, task] {
          ++patches_;
          kinds_[kind].patch(task.key.namespace_, task.key.name, cell_of(task.key.namespace_), version_);
        },
        [this, &each, sender, task](bool lost) {
          const auto found = processes_.find(&each);
          if (found == processes_.end() || found->second->number != sender) return;
          detail::LabelCore& labels = found->second->labels;
          lost ? labels.on_failed(task, found->second->clock->now()) : labels.on_done(task, true);
        });
  }

  void check_parts() override {
    if (chance() < 0.3) change();
    for (Replica& each : replicas()) {
      if (!each.is_member(now())) continue;
      for (const auto& [slot, run] : each.runs)
        ASSERT_TRUE(has_base(process_of(each), spaces_[slot]))
            << "the cache drops " << spaces_[slot] << " too early";
    }
  }
  /// Changes an object of a kind.
  void change() {
    if (quiet) return;
    Collection& kind = kinds_[number() % kind_count];
    const std::string& space = spaces_[number() % slot_count];
    const std::string extra = "extra-" + std::to_string(number() % 3);
    const double dice = chance();
    if (dice < 0.3) return kind.put({space, "base", ++version_, some_label(space, false)});
    if (dice < 0.7) return kind.put({space, extra, ++version_, some_label(space, true)});
    kind.remove(space, extra, ++version_);
  }

  /// Returns the label that a user gives to an object. With that of another cell it leaves the caches until
  /// it is corrected, which runs may see.
  std::string some_label(const std::string& space, bool may_leave) {
    const double dice = by_ == By::hash ? 0 : chance();
    if (dice < 0.4) return {};
    if (dice < 0.5) return "none";
    return dice < 0.7 && may_leave ? cell_of(spaces_[number() % slot_count]) : cell_of(space);
  }

  // ---- The processes

  Process& process_of(Replica& each) {
    std::unique_ptr<Process>& process = processes_[&each];
    if (process) return *process;
    process = std::make_unique<Process>();
    process->began = now();
    process->number = ++process_count_;
    process->rate = each.rate;
    process->keys->owns = [this, &each](const std::string& space) {
      const auto at = std::find(spaces_.begin(), spaces_.end(), space) - spaces_.begin();
      return each.owned.contains(static_cast<Slot>(at));
    };
    for (std::size_t i = 0; i < kind_count; ++i) {
      Process::Kind& kind = process->kinds[i];
      InformerOptions options;
      options.reflector = {.page_size = 7, .watch_timeout = 60s, .streaming_list = false, .random = [this] {
                             return chance();
                           }};
      if (by_ == By::label) options.reflector.cell_label = "cell";
      const ResourceId resource{"", "v1", "ConfigMap", i == 0 ? "configmaps" : "owned"};
      const auto found = [labels = &process->labels, resource](const WireObject& object) {
        labels->on_found(resource, object.key());
      };
      kind.informer = std::make_unique<Informer>(Informer::Parts{.resource = resource,
                                                                 .source = kind.source,
                                                                 .runner = process->runner,
                                                                 .on_mislabelled = found},
                                                 options);
      kind.informer->add_handler(process->keys, {.delivery = Delivery::direct});
      kind.informer->select({});
      kind.informer->start();
    }
    return *process;
  }

  // ---- The server of the objects

  static std::string body(const std::vector<std::string>& items, const std::string& version,
                          const std::string& token) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
    return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
           R"(","continue":")" + token + R"("},"items":[)" + text + "]}";
  }
  /// Returns a page of a list.
  std::string page(std::size_t kind, const ListRequest& request) {
    std::pair<std::string, std::vector<std::string>> rest;
    if (!request.continue_token.empty()) {
      rest = std::move(pages_.at(request.continue_token));
    } else {
      ++lists_;
      const Selection wanted(request);
      if (!wanted.is_all()) ++growths_;
      rest.first = std::to_string(version_);
      for (const auto& [key, object] : kinds_[kind].objects) {
        if (wanted.takes(object)) rest.second.push_back(object.json());
      }
    }
    std::vector<std::string> items = std::move(rest.second);
    rest.second.clear();
    std::string token;
    if (request.limit != 0 && items.size() > request.limit) {
      rest.second.assign(items.begin() + static_cast<std::ptrdiff_t>(request.limit), items.end());
      items.resize(request.limit);
      token = "page-" + std::to_string(++tokens_);
      pages_[token] = rest;
    }
    return body(items, rest.first, token);
  }

  void send(Replica& each, std::size_t kind, Stream request, double faults) {
    const auto shared = std::make_shared<Stream>(std::move(request));
    if (const auto* list = std::get_if<ListRequest>(&shared->step)) {
      const auto answer = std::make_shared<std::string>();
      const bool expires = chance() < faults / 4;
      exchange(
          faults, [this, kind, list, answer] { *answer = page(kind, *list); },
          [this, shared, answer, expires](bool lost) { answer_list(*shared, *answer, expires, lost); });
      return;
    }
    exchange(
        faults, [] {},
        [this, &each, kind, shared](bool lost) {
          if (shared->call->cancelled || !processes_.contains(&each)) return;
          if (lost) return shared->handler->on_end(broken());
          const auto& step = std::get<WatchRequest>(shared->step);
          Process::Kind& own = processes_.at(&each)->kinds[kind];
          const std::uint64_t from = std::stoull(step.resource_version);
          own.watched = Selection(step);
          own.position = static_cast<std::size_t>(
              std::count_if(kinds_[kind].events.begin(), kinds_[kind].events.end(),
                            [from](const Collection::Event& event) { return event.object.version <= from; }));
          own.watch = std::move(*shared);
          own.watch->handler->on_response(200, {});
        });
  }
  void answer_list(const Stream& stream, const std::string& answer, bool expires, bool lost) {
    if (stream.call->cancelled) return;
    if (lost) return stream.handler->on_end(broken());
    if (expires) ++expired;
    stream.handler->on_response(expires ? 410 : 200, {});
    stream.handler->on_data(expires ? R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})"
                                    : answer);
    stream.handler->on_end(nullptr);
  }
  static std::exception_ptr broken() {
    return std::make_exception_ptr(TransportError(TransportErrorCode::interrupted, "lost"));
  }

  /// Sends the events of a watch that are due, or ends it.
  void watch(Process& process, std::size_t kind, double faults) {
    Process::Kind& own = process.kinds[kind];
    if (own.watch && own.watch->call->cancelled) own.watch.reset();
    if (!own.watch || now() < own.silent_until) return;
    if (faults > 0 && chance() < 0.002) own.silent_until = now() + some(10s);
    const auto handler = own.watch->handler;
    if (faults > 0 && chance() < 0.002) {
      if (chance() < 0.3)
        handler->on_data(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
                         "\n");
      handler->on_end(chance() < 0.5 ? broken() : nullptr);
      own.watch.reset();
      return;
    }
    const auto& events = kinds_[kind].events;
    for (; own.position < events.size(); ++own.position) {
      const std::string frame = events[own.position].frame(own.watched);
      if (!frame.empty()) handler->on_data(frame);
    }
  }

 public:
  bool quiet = false;  // objects do not change by themselves

 private:
  const By by_;
  const std::vector<std::string> spaces_;
  std::array<Collection, kind_count> kinds_ = {};
  std::uint64_t version_ = 10;
  std::map<std::string, std::string> seen_ = {};  // by the last run of each namespace
  std::map<std::string, std::pair<std::string, std::vector<std::string>>> pages_ = {};
  std::map<Replica*, std::unique_ptr<Process>> processes_ = {};
  std::size_t tokens_ = 0;
  std::size_t lists_ = 0;
  std::size_t growths_ = 0;
  std::size_t waits_ = 0;
  std::size_t patches_ = 0;
  std::size_t process_count_ = 0;
};

void run_storms(By by) {
  std::size_t growths = 0;
  std::size_t waits = 0;
  std::size_t expired = 0;
  constexpr std::uint64_t storms = tests::sanitized ? 4 : 20;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + storms; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    CacheWorld world(seed, 2 + seed % 4, by);
    world.run(120s, seed % 2 == 0 ? 0.3 : 0.05);
    if (::testing::Test::HasFatalFailure()) return;
    world.quiet = true;
    world.run(120s, 0);  // also for requests without an answer and back-offs of 30 s
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(world.owned(), slot_count);
    EXPECT_EQ(world.lost(), std::vector<std::string>());
    EXPECT_EQ(world.misheld(), std::vector<std::string>());
    if (by == By::label) {
      EXPECT_EQ(world.mislabelled(), std::vector<std::string>());
      EXPECT_GE(world.patches(), 2 * slot_count);
    }
    growths += world.growths();
    waits += world.waits();
    expired += world.expired;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(growths, storms * 20) << "the faults did not cause enough gains";
  EXPECT_GE(waits, storms * 20) << "no key had to wait for its objects";
  EXPECT_GE(expired, storms / 2);
}

TEST(CacheShareSimulation, NoKeyRunsBeforeItsObjectsAreCachedAndNoneIsLost) {
  run_storms(By::hash);
}

TEST(CacheShareSimulation, LikewiseByALabelThatUsersRemoveAndChange) {
  run_storms(By::label);
}

/// `world` has four replicas.
void expect_shares(CacheWorld& world) {
  world.quiet = true;
  world.run(30s, 0);
  ASSERT_EQ(world.owned(), slot_count);
  EXPECT_EQ(world.most_held(), slot_count / 4);
  const std::size_t lists = world.lists();
  world.leave(world.replica(0));
  world.run(4s, 0);
  EXPECT_EQ(world.misheld(), std::vector<std::string>());
  EXPECT_LE(world.most_held(), slot_count / 3 + 1);
  EXPECT_LE(world.lists() - lists, 3U * kind_count * 8U);
  world.touch_all();
  world.run(10s, 0);
  EXPECT_EQ(world.lost(), std::vector<std::string>());
}

TEST(CacheShareSimulation, WithoutFaultsEachReplicaHoldsItsShareAndNothingIsListedTwice) {
  CacheWorld world(3, 4);
  expect_shares(world);
}

TEST(CacheShareSimulation, WithoutFaultsALabelDividesLikeAHash) {
  CacheWorld world(3, 4, By::label);
  expect_shares(world);
  EXPECT_EQ(world.mislabelled(), std::vector<std::string>());
}

}  // namespace
}  // namespace evenkeel::sharding_simulation
