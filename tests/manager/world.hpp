// SPDX-License-Identifier: Apache-2.0
// A cluster in this process for tests of managers: an API server core, clients that reach it without sockets,
// and waits for its state. Nothing sleeps: a waiting test checks its condition after each request and log
// line.
#pragma once

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/evenkeel.hpp>

namespace evenkeel {

struct GadgetSpec {
  int replicas = 1;
  std::string image;
};
EVENKEEL_FIELDS(GadgetSpec, replicas, image)

struct GadgetStatus {
  int ready_replicas = 0;
};
EVENKEEL_FIELDS(GadgetStatus, ready_replicas)

struct Gadget {
  static constexpr ResourceInfo resource{.group = "test.evenkeel.dev",
                                         .version = "v1",
                                         .kind = "Gadget",
                                         .plural = "gadgets",
                                         .installs_crd = true};
  ObjectMeta metadata;
  GadgetSpec spec;
  GadgetStatus status;
};
EVENKEEL_FIELDS(Gadget, metadata, spec, status)

// Counts events and wakes waiting tests.
class Happenings final : public LogSink {
 public:
  bool enabled(LogLevel) const noexcept override { return true; }
  void write(LogLevel, std::string_view message, LogFields bound, LogFields fields) noexcept override {
    std::string line(message);
    for (const LogFields& part : {bound, fields}) {
      for (const LogField& field : part) {
        line += " " + std::string(field.key) + "=";
        if (const auto* text = std::get_if<std::string_view>(&field.value.get())) line += *text;
        if (const auto* number = std::get_if<std::int64_t>(&field.value.get()))
          line += std::to_string(*number);
      }
    }
    MutexLock lock(mutex_);
    lines_.push_back(std::move(line));
    ++count_;
    changed_.notify_all();
  }
  void note() {
    MutexLock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait_until(const std::function<bool()>& condition) {
    const TimePoint limit = real_clock()->now() + std::chrono::seconds{45};
    while (true) {
      std::uint64_t seen = 0;
      {
        MutexLock lock(mutex_);
        seen = count_;
      }
      if (condition()) return;
      MutexLock lock(mutex_);
      while (count_ == seen) {
        if (real_clock()->now() >= limit)
          throw std::runtime_error("waited 45 s in vain; the log:" + last_lines());
        changed_.wait_until(lock, limit);
      }
    }
  }
  std::vector<std::string> lines_with(std::string_view part) const {
    MutexLock lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      if (line.find(part) != std::string::npos) found.push_back(line);
    }
    return found;
  }

 private:
  std::string last_lines() const EVENKEEL_REQUIRES(mutex_) {
    std::string text;
    for (std::size_t at = lines_.size() > 10 ? lines_.size() - 10 : 0; at < lines_.size(); ++at)
      text += "\n  " + lines_[at];
    return text;
  }

  mutable Mutex mutex_;
  CondVar changed_;
  std::uint64_t count_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> lines_ EVENKEEL_GUARDED_BY(mutex_);
};

// Wakes waiting tests, and records nothing.
class Quiet final : public LogSink {
 public:
  explicit Quiet(std::shared_ptr<Happenings> happenings) : happenings_(std::move(happenings)) {}
  bool enabled(LogLevel) const noexcept override { return true; }
  void write(LogLevel, std::string_view, LogFields, LogFields) noexcept override { happenings_->note(); }

 private:
  std::shared_ptr<Happenings> happenings_;
};

class World {
 public:
  /// `clock`: that of the server and its clients.
  explicit World(apiserver::ApiServerCoreOptions core_options = {},
                 std::shared_ptr<const Clock> clock = real_clock())
      : clock_(std::move(clock)) {
    apiserver::SharedCoreOptions options;
    options.clock = clock_;
    options.core = std::move(core_options);
    options.on_request = [happenings = happenings](const apiserver::ServedRequest&) { happenings->note(); };
    core = std::make_shared<apiserver::SharedCore>(std::move(options));
  }
  void install_crd() { core->install(crd_for<Gadget>().dump()); }

  Client client() const {
    return Client(
        Config{.server = "http://in-process"},
        {.transport = std::make_shared<apiserver::InProcessTransport>(core), .clock = clock_, .log = log()});
  }
  Log log() const { return Log(happenings); }
  ManagerOptions options() const { return {.name = "test-operator", .log = log()}; }

  void wait_until(const std::function<bool()>& condition) const { happenings->wait_until(condition); }
  void wait_for_line(std::string_view part) const {
    wait_until([&] { return !happenings->lines_with(part).empty(); });
  }

  // ---- As a user of the cluster, bypassing faults

  http::Response call(http::Method method, const std::string& target, const std::string& body = {}) const {
    http::Request request{.method = method, .target = target, .body = body};
    if (!body.empty()) {
      request.headers.set("Content-Type", method == http::Method::patch ? "application/merge-patch+json"
                                                                        : "application/json");
    }
    return core->handle(request);
  }
  /// Returns the object, or null.
  Json get(const std::string& target) const {
    const http::Response response = call(http::Method::get, target);
    return response.status == 200 ? Json::parse(response.body) : Json();
  }
  Json gadget(const std::string& name) const { return get(gadgets + "/" + name); }
  Json config_map(const std::string& name) const { return get(config_maps + "/" + name); }
  void create_gadget(const std::string& name, int replicas = 1, const std::string& image = "web:1") const {
    const http::Response response =
        call(http::Method::post, gadgets,
             Json::object({{"apiVersion", "test.evenkeel.dev/v1"},
                           {"kind", "Gadget"},
                           {"metadata", Json::object({{"name", name}, {"namespace", "default"}})},
                           {"spec", Json::object({{"replicas", replicas}, {"image", image}})}})
                 .dump());
    ASSERT_EQ(response.status, 201) << response.body;
  }
  void patch(const std::string& target, const std::string& body) const {
    const http::Response response = call(http::Method::patch, target, body);
    ASSERT_EQ(response.status, 200) << response.body;
  }
  void remove(const std::string& target) const {
    const http::Response response = call(http::Method::delete_, target);
    ASSERT_EQ(response.status, 200) << response.body;
  }

  const std::string gadgets = "/apis/test.evenkeel.dev/v1/namespaces/default/gadgets";
  const std::string config_maps = "/api/v1/namespaces/default/configmaps";
  std::shared_ptr<Happenings> happenings = std::make_shared<Happenings>();
  std::shared_ptr<apiserver::SharedCore> core;

 private:
  const std::shared_ptr<const Clock> clock_;
};

/// Runs a manager on a thread. stop() and the destructor wait for its end.
class Running {
 public:
  explicit Running(Manager& manager)
      : thread_([this, &manager](const std::stop_token& stop) {
          try {
            manager.run(stop);
          } catch (const std::exception& error) {
            // A test that waits for the manager sees only its log.
            std::cerr << "run() ended with " << error.what() << "\n";
            error_ = std::current_exception();
          }
        }) {}
  /// Requests a stop; throws the exception of run().
  void stop() {
    thread_.request_stop();
    wait();
  }
  void request_stop() { thread_.request_stop(); }
  /// Waits until run() returns; throws its exception.
  void wait() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
  std::jthread thread_;
};

}  // namespace evenkeel
