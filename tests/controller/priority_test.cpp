// SPDX-License-Identifier: Apache-2.0
// Priorities of events in a controller's queue.
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/controller/controller.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

#include "controller_fixture.hpp"
#include "event_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Records the priority of each key.
class RecordingStore {
 public:
  explicit RecordingStore(std::vector<std::string>& record) : record_(&record) {}

  void push(QueueNode<RequestKey>& node) {
    record_->push_back(std::string(node.key().name()) + " " + std::to_string(node.priority()));
    items_.push(node);
  }
  QueueNode<RequestKey>& pop() { return static_cast<QueueNode<RequestKey>&>(items_.pop()); }
  std::size_t size() const { return items_.size(); }
  void touch(QueueNode<RequestKey>& node, std::uint64_t place) {
    record_->push_back(std::string(node.key().name()) + " again " + std::to_string(node.priority()));
    items_.touch(node, place);
  }

 private:
  std::vector<std::string>* record_;
  PriorityStore items_;
};

class EventPriority : public ControllerTest {
 protected:
  // A controller that does not run yet, so that all keys stay in the queue.
  void make_recording(KeyMapping mapping) {
    ControllerSpec made = spec([](Context&) { return done(); });
    made.watches[0].mapping = std::move(mapping);
    made.watches[0].primary = false;
    made.options.store = [this] { return RequestStore(RecordingStore(record)); };
    make(std::move(made));
  }
  static WireObject object(const std::string& name) {
    return wire_object(R"({"namespace":"ns","name":")" + name + R"(","ownerReferences":[)" +
                       R"({"apiVersion":"apps/v1","kind":"Deployment","name":")" + name +
                       R"(","uid":"1","controller":true}]})");
  }
  std::vector<std::string> second_runs(bool listed, std::optional<Priority> requeue_priority);
  // Sends one event of each kind, for separate objects.
  void tell_everything() {
    ObjectEvent listed = added(listed_);
    listed.initial = true;
    handlers[0]->on_event(listed);
    handlers[0]->on_event(added(created_));
    ObjectEvent resynced = updated(resynced_, resynced_);
    resynced.resync = true;
    handlers[0]->on_event(resynced);
    handlers[0]->on_event(updated(changed_, changed_));
    handlers[0]->on_event(deleted(deleted_));
  }
  static auto expected() {
    return ElementsAre("listed -100", "created 0", "resynced -100", "changed 0", "deleted 0");
  }

  std::vector<std::string> record;
  const WireObject listed_ = object("listed");
  const WireObject created_ = object("created");
  const WireObject resynced_ = object("resynced");
  const WireObject changed_ = object("changed");
  const WireObject deleted_ = object("deleted");
};

TEST_F(EventPriority, IsLowForFirstListsAndResyncsWhateverTheMapping) {
  const auto by_hand = [](const WireObject& object, std::vector<ObjectKey>& found) {
    found.push_back(object.key());
  };
  for (const KeyMapping& mapping :
       {map_to_object(), map_to_owner(ResourceId("apps", "v1", "Deployment", "deployments")),
        map_to_owner(ResourceId("apps", "v1", "Deployment", "deployments"), OwnerMatch::any),
        KeyMapping(by_hand)}) {
    record.clear();
    handlers.clear();
    make_recording(mapping);
    tell_everything();
    EXPECT_THAT(record, expected());
    controller.reset();
  }
}

TEST_F(EventPriority, OfALiveChangeRaisesThatOfAListedObjectAndNotTheOtherWayRound) {
  make_recording(map_to_object());
  ObjectEvent listed = added(listed_);
  listed.initial = true;
  handlers[0]->on_event(listed);
  handlers[0]->on_event(updated(listed_, listed_));
  listed.resync = true;
  handlers[0]->on_event(listed);
  EXPECT_THAT(record, ElementsAre("listed -100", "listed again 0", "listed again 0"));
  controller.reset();
}

// Retries keep their priority, unless the result sets another one. An exception has no result, so a failure
// always keeps it. The last run of each key was caused by an event of the first list.
// Returns "name priority" for the second run of an object of each name: one fails, one of each kind asks for
// another run, and those that are raised set a priority. The first runs come from a first list, or from
// events.
std::vector<std::string> EventPriority::second_runs(bool listed, std::optional<Priority> requeue_priority) {
  const std::vector<std::string> names = {"fails", "later", "later raised", "requeued", "requeued raised"};
  const int first_runs = static_cast<int>(names.size());
  Tally runs;
  ControllerSpec made = spec([&](Context& context) {
    const std::string name = context.key().name;
    const bool again = runs.value() >= first_runs;
    runs.add();
    if (again) return done();
    if (name == "fails") throw std::runtime_error("dummy error");
    const Result result = name.starts_with("later") ? requeue_after(1s) : requeue();
    return name.ends_with("raised") ? result.with_priority(99) : result;
  });
  made.options.store = [this] { return RequestStore(RecordingStore(record)); };
  made.options.limiter = [] { return exponential(1s, 1s); };
  made.options.requeue_priority = requeue_priority;
  make(std::move(made));
  start();
  for (const std::string& name : names) {
    const WireObject one = object(name);
    ObjectEvent event = added(one);
    event.initial = listed;
    handlers[0]->on_event(event);
  }
  handlers[0]->on_synced();
  runs.wait_for(first_runs);
  clock->wait_for_waiters(1);
  record.clear();
  clock->advance(1s);
  runs.wait_for(2 * first_runs);
  clock->wait_for_waiters(1);
  controller->stop();
  ended.wait_for(1);
  controller.reset();
  return record;
}

TEST_F(EventPriority, OfARetryIsThatOfItsRunUnlessTheResultSetsOne) {
  EXPECT_THAT(second_runs(true, std::nullopt),
              UnorderedElementsAre("fails -100", "later -100", "later raised 99", "requeued -100",
                                   "requeued raised 99"));
}

TEST_F(EventPriority, OfPeriodicRunsIsThatOfTheOptionUnlessTheResultSetsOne) {
  EXPECT_THAT(second_runs(false, Lane::slow), UnorderedElementsAre("fails 0", "later -100", "later raised 99",
                                                                   "requeued 0", "requeued raised 99"));
}

// A store without priorities takes events in order.
TEST_F(EventPriority, CountsForNothingInAPlainQueue) {
  std::vector<std::string> order;
  Tally runs;
  ControllerSpec made = spec([&](Context& context) {
    order.push_back(context.key().name);
    runs.add();
    return done();
  });
  made.options.store = [] { return RequestStore(FifoStore()); };
  make(std::move(made));
  start();
  tell_everything();
  handlers[0]->on_synced();
  runs.wait_for(5);
  EXPECT_THAT(order, ElementsAre("listed", "created", "resynced", "changed", "deleted"));
}

}  // namespace
}  // namespace evenkeel
