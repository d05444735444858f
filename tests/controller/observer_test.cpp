// SPDX-License-Identifier: Apache-2.0
// The notifications of a controller's observer, and their order.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/observer.hpp>

#include "controller_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

std::string text_of(Duration duration) {
  return std::to_string(duration / 1ms) + "ms";
}

// Records a line for each call.
class Story final : public ControllerObserver {
 public:
  void key_added(const KeyAdded& added) noexcept override {
    static constexpr const char* causes[] = {"event", "source", "call"};
    static constexpr const char* verdicts[] = {"queued", "waits", "held"};
    std::string line = "added " + added.key.str() + " " + causes[static_cast<std::size_t>(added.cause)] +
                       " " + verdicts[static_cast<std::size_t>(added.verdict)];
    if (added.event != nullptr) line += " " + std::string(added.source);
    write(line + " " + std::to_string(added.priority.value));
  }
  void run_began(const RunBegan& run) noexcept override {
    ids_.emplace_back(run.reconcile_id);
    write("began " + run.key.str() + " attempt " + std::to_string(run.attempt) + " waited " +
          (run.waited ? text_of(*run.waited) : "?"));
  }
  void run_ended(const RunEnded& run) noexcept override {
    ids_.emplace_back(run.reconcile_id);
    write("ended " + run.key.str() + " " + std::string(outcome_name(run.outcome.kind)) + " took " +
          text_of(run.took) + " next " + (run.next_try_in ? text_of(*run.next_try_in) : "-"));
  }
  void event_refused(std::string_view source, const ObjectEvent& event) noexcept override {
    write("refused " + std::string(source) + " " + event.object->key().str());
  }
  std::vector<std::string> take() {
    MutexLock lock(mutex_);
    return std::exchange(lines_, {});
  }
  std::vector<std::string> ids_;  // of one worker

 private:
  void write(std::string line) {
    MutexLock lock(mutex_);
    lines_.push_back(std::move(line));
  }
  Mutex mutex_;
  std::vector<std::string> lines_ EVENKEEL_GUARDED_BY(mutex_);
};

class ObserverTest : public ControllerTest {
 protected:
  void make_observed(ControllerSpec made) {
    controller = std::make_unique<Controller>(std::move(made), ControllerEnvironment{.client = client,
                                                                                     .cache = cache,
                                                                                     .keys = keys,
                                                                                     .log = Log(lines),
                                                                                     .clock = clock,
                                                                                     .observers = {story}});
    controller->attach();
    handlers[0]->on_synced();
  }
  void TearDown() override { controller.reset(); }  // it was never started, so there is no end to wait for

  std::shared_ptr<Story> story = std::make_shared<Story>();
};

TEST_F(ObserverTest, HearsOfEachAddAndRun) {
  bool fails = true;
  ControllerSpec made = spec([&](Context&) -> Result {
    clock->advance(30ms);
    if (std::exchange(fails, false)) throw std::runtime_error("once");
    return requeue_after(10s);
  });
  made.watches[0].when = [](const ObjectEvent& event) { return event.object->name() != "hidden"; };
  make_observed(std::move(made));
  change("a");
  change("hidden");
  clock->advance(20ms);
  EXPECT_TRUE(controller->step());
  EXPECT_THAT(story->take(),
              ElementsAre("added ns/a event queued configmaps (v1) 0", "refused configmaps (v1) ns/hidden",
                          "began ns/a attempt 1 waited 20ms", "ended ns/a error took 30ms next 5ms"));
  const WireObject object =
      wire_object(R"({"namespace":"ns","name":"a","uid":"1","resourceVersion":"1","generation":1})");
  ObjectEvent event = updated(object, object);
  event.resync = true;
  handlers[0]->on_event(event);
  EXPECT_THAT(story->take(), ElementsAre("added ns/a event waits configmaps (v1) -100"));
  clock->advance(5ms);
  EXPECT_TRUE(controller->step());
  EXPECT_THAT(story->take(), ElementsAre("began ns/a attempt 2 waited ?",
                                         "ended ns/a requeue_after took 30ms next 10000ms"));
  controller->enqueue({"ns", "b"});
  EXPECT_THAT(story->take(), ElementsAre("added ns/b call queued 0"));
  ASSERT_EQ(story->ids_.size(), 4U);
  EXPECT_EQ(story->ids_[0], story->ids_[1]) << "began and ended name the same run";
  EXPECT_NE(story->ids_[1], story->ids_[2]);
}

TEST_F(ObserverTest, HearsThatAnUpdateIsHeldDuringARun) {
  const WireObject object =
      wire_object(R"({"namespace":"ns","name":"a","uid":"1","resourceVersion":"1","generation":1})");
  bool first = true;
  make_observed(spec([&](Context&) {
    if (std::exchange(first, false)) handlers[0]->on_event(updated(object, object));
    return done();
  }));
  change("a");
  EXPECT_TRUE(controller->step());
  EXPECT_THAT(story->take(),
              ElementsAre("added ns/a event queued configmaps (v1) 0", "began ns/a attempt 1 waited 0ms",
                          "added ns/a event held configmaps (v1) 0", "ended ns/a success took 0ms next -"));
  EXPECT_TRUE(controller->step()) << "what was held is run once more";
}

}  // namespace
}  // namespace evenkeel
