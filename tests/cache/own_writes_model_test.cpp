// SPDX-License-Identifier: Apache-2.0
// Reads of own writes against a model: a server with a history, a watch that lags behind it, relists, and
// answers that are late or lost.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/write_effect.hpp>

#include "objects.hpp"
#include "random_json.hpp"

namespace evenkeel::own_writes_tests {
namespace {

using Kind = WriteEffect::Kind;
using Revision = std::size_t;

constexpr Duration bound = std::chrono::seconds{60};

/// One state of an object; no uid: it does not exist.
struct ModelState {
  Revision revision = 0;
  std::string uid = {};
  bool ending = false;
};

WireObject wire(const std::string& name, const ModelState& state) {
  std::string text = tests::json_of(
      {.name = name, .version = std::to_string(state.revision), .uid = state.uid, .owners = {"o"}});
  if (state.ending) text.insert(text.find(R"("uid")"), R"("deletionTimestamp":"2026-01-01T00:00:00Z",)");
  return WireScanner().object(text);
}

/// A server: the states of every object, by revision.
class ModelServer {
 public:
  explicit ModelServer(std::size_t names) {
    for (std::size_t i = 0; i < names; ++i) names_.push_back("n" + std::to_string(i));
    for (const std::string& name : names_) history_[name] = {{}};
  }
  const std::vector<std::string>& names() const { return names_; }
  Revision head() const { return log_.size(); }
  const ModelState& now(const std::string& name) const { return history_.at(name).back(); }
  const ModelState& at(const std::string& name, Revision revision) const {
    const auto& states = history_.at(name);
    return *std::prev(
        std::upper_bound(states.begin(), states.end(), revision,
                         [](Revision value, const ModelState& state) { return value < state.revision; }));
  }
  /// Returns the name of the object that this revision changed.
  const std::string& changed_by(Revision revision) const { return log_[revision - 1]; }

  const ModelState& write(const std::string& name, std::string uid, bool ending = false) {
    log_.push_back(name);
    history_[name].push_back({log_.size(), std::move(uid), ending});
    return now(name);
  }
  const ModelState& create(const std::string& name) { return write(name, "u" + std::to_string(head() + 1)); }
  const ModelState& remove(const std::string& name) { return write(name, ""); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::vector<ModelState>> history_;
  std::vector<std::string> log_;
};

class OwnWritesModel {
 public:
  explicit OwnWritesModel(std::uint64_t seed) : random_(seed) {
    for (std::uint64_t i = random_.below(5); i > 0; --i) write();  // before the first list
    relist(random_.below(server_.head() + 1));
  }

  void step() {
    const std::uint64_t choice = random_.below(100);
    if (choice < 35) return write();
    if (choice < 50) return foreign_write();
    if (choice < 70) return deliver(random_.below(4));
    if (choice < 80) return answer(random_.below(3));
    if (choice < 83) return relist(position_ + random_.below(server_.head() - position_ + 1));
    if (choice < 85) return store_.reached("");  // 410: the next list has no version yet
    if (choice < 87) return store_.reached(std::to_string(position_));
    if (choice == 87) return pass_time();
    check();
  }
  std::size_t reads() const { return reads_; }
  std::size_t live_reads() const { return live_reads_; }

 private:
  const std::string& any_name() { return server_.names()[random_.below(server_.names().size())]; }

  WriteEffect effect(Kind kind, const std::string& name, std::string uid = "", std::string version = "") {
    return {.kind = kind,
            .namespace_ = "default",
            .name = name,
            .uid = std::move(uid),
            .version = std::move(version),
            .until = clock_.now() + bound};
  }
  WriteEffect written(const std::string& name, const ModelState& state) {
    WriteEffect result = effect(Kind::written, name);
    result.object = wire(name, state);
    return result;
  }
  /// The answer of a write arrives now or later, or never.
  void answered(WriteEffect effect) {
    const Revision revision = server_.head();
    if (random_.below(20) == 0) effect = this->effect(Kind::unknown, effect.name);
    answers_.emplace_back(revision, std::move(effect));
    if (random_.below(3) != 0) answer(answers_.size());
  }

  void write() {
    const std::string name = any_name();
    const ModelState before = server_.now(name);
    switch (random_.below(6)) {
      case 0:
        return create(name, before);
      case 1:
        return remove(name, before);
      case 2:
        return evict(name, before);
      case 3:
        return update_as_read(name, before);
      case 4:
        if (before.uid.empty()) return;
        server_.write(name, before.uid, before.ending);
        return answered(effect(Kind::changed, name, "", std::to_string(server_.head())));
      default:
        if (before.uid.empty()) return;
        return answered(written(name, server_.write(name, before.uid, before.ending)));
    }
  }
  void create(const std::string& name, const ModelState& before) {
    if (!before.uid.empty()) return answered(effect(Kind::present, name));
    answered(written(name, server_.create(name)));
  }
  void remove(const std::string& name, const ModelState& before) {
    if (before.uid.empty()) return answered(effect(Kind::absent, name));
    if (!before.ending && random_.below(2) == 0)  // a finalizer holds it
      return answered(written(name, server_.write(name, before.uid, true)));
    server_.remove(name);
    answered(
        effect(Kind::removed, name, before.uid, random_.below(2) == 0 ? "" : std::to_string(server_.head())));
  }
  void evict(const std::string& name, const ModelState& before) {
    if (before.uid.empty() || before.ending) return;
    if (random_.below(2) == 0)
      server_.remove(name);
    else
      server_.write(name, before.uid, true);
    answered(effect(Kind::ending, name, before.uid));
  }
  /// Updates what a read returns; a conflict if that is old.
  void update_as_read(const std::string& name, const ModelState& before) {
    const WireObject read = store_.find("default", name);
    if (!read || before.uid.empty()) return;
    if (read.resource_version() == std::to_string(before.revision))
      return answered(written(name, server_.write(name, before.uid, before.ending)));
    answered(effect(Kind::outdated, name, "", std::string(read.resource_version())));
  }
  void foreign_write() {
    const std::string name = any_name();
    const ModelState before = server_.now(name);
    if (before.uid.empty())
      server_.create(name);
    else if (random_.below(2) == 0)
      server_.remove(name);
    else
      server_.write(name, before.uid, before.ending);
  }

  /// The program sees some of the answers, in any order.
  void answer(std::size_t count) {
    for (; count > 0 && !answers_.empty(); --count) {
      const std::size_t which = random_.below(answers_.size());
      auto [revision, effect] = std::move(answers_[which]);
      answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(which));
      const Kind kind = effect.kind;
      const bool wrote = kind == Kind::written || kind == Kind::removed || kind == Kind::changed ||
                         kind == Kind::ending || kind == Kind::unknown;
      if (wrote) floors_[effect.name] = std::max(floors_[effect.name], revision_of(effect.name, revision));
      store_.record(std::move(effect));
    }
  }
  /// Returns the revision of the last change of the object that is not later than `revision`.
  Revision revision_of(const std::string& name, Revision revision) const {
    return server_.at(name, revision).revision;
  }

  void deliver(std::size_t count) {
    for (; count > 0 && position_ < server_.head(); --count) {
      ++position_;
      const std::string& name = server_.changed_by(position_);
      const ModelState& state = server_.at(name, position_);
      if (!state.uid.empty()) {
        store_.apply(wire(name, state));
      } else {
        ModelState last = server_.at(name, position_ - 1);
        last.revision = position_;
        store_.remove(wire(name, last));
      }
      store_.reached(std::to_string(position_));
    }
  }
  void relist(Revision revision) {
    std::vector<WireObject> objects;
    for (const std::string& name : server_.names()) {
      if (const ModelState& state = server_.at(name, revision); !state.uid.empty())
        objects.push_back(wire(name, state));
    }
    store_.replace(std::move(objects));
    position_ = revision;
    store_.reached(std::to_string(revision));
  }
  /// Effects end by time, after the watch has caught up.
  void pass_time() {
    answer(answers_.size());
    deliver(server_.head() - position_);
    clock_.advance(bound);
    ASSERT_TRUE(store_.unknown().empty());
  }

  void check() {
    std::map<std::string, std::string> found;
    for (const std::string& name : server_.names()) {
      ++reads_;
      if (store_.is_unknown("default", name)) {
        ++live_reads_;
        continue;
      }
      const WireObject object = store_.find("default", name);
      check_state(name, object);
      if (object) found[name] = std::string(object.resource_version());
    }
    check_list(found, store_.list());
    check_list(found, store_.by_owner("o"));
  }
  /// A read shows a state that the object had after the last own write, the last read, and what the watch has
  /// delivered.
  void check_state(const std::string& name, const WireObject& object) {
    const Revision oldest = std::max({floors_[name], seen_[name], revision_of(name, position_)});
    const Revision shown = object ? std::stoull(std::string(object.resource_version())) : 0;
    for (Revision at = oldest; at <= server_.head(); ++at) {
      const ModelState& state = server_.at(name, at);
      if (object ? state.revision == shown && state.uid == object.uid() : state.uid.empty()) {
        seen_[name] = state.revision;
        return;
      }
    }
    FAIL() << name << " is shown " << (object ? "at " + std::to_string(shown) : "as absent")
           << "; own write at " << floors_[name] << ", read before at " << seen_[name] << ", watch at "
           << position_ << ", server at " << server_.head();
  }
  void check_list(const std::map<std::string, std::string>& found, const std::vector<WireObject>& listed) {
    std::map<std::string, std::string> in_list;
    for (const WireObject& one : listed) {
      const std::string name(one.name());
      if (!store_.is_unknown("default", name)) in_list[name] = std::string(one.resource_version());
    }
    ASSERT_EQ(in_list, found);
  }

  tests::RandomJson random_;
  ModelServer server_{6};
  ManualClock clock_;
  ObjectStore store_{{.clock = &clock_}};
  Revision position_ = 0;
  std::deque<std::pair<Revision, WriteEffect>> answers_;
  std::map<std::string, Revision> floors_;  // the last own writes whose answers were seen
  std::map<std::string, Revision> seen_;    // the states of the last reads of the store
  std::size_t reads_ = 0;
  std::size_t live_reads_ = 0;
};

TEST(OwnWritesModel, EveryReadShowsTheLastOwnWriteOrSomethingNewer) {
  tests::RandomJson seeds(tests::fresh_seed());
  std::size_t reads = 0;
  std::size_t live_reads = 0;
  for (int world = 0; world < 200; ++world) {
    const std::uint64_t seed = seeds.below(std::uint64_t{1} << 62);
    SCOPED_TRACE("world " + std::to_string(seed));
    OwnWritesModel model(seed);
    for (int step = 0; step < 400 && !::testing::Test::HasFailure(); ++step) model.step();
    if (::testing::Test::HasFailure()) return;
    reads += model.reads();
    live_reads += model.live_reads();
  }
  EXPECT_LT(live_reads, reads / 2) << "most reads come from the store";
  EXPECT_GT(live_reads, 0U);
}

}  // namespace
}  // namespace evenkeel::own_writes_tests
