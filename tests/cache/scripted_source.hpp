// SPDX-License-Identifier: Apache-2.0
// A source whose streams the test answers, as the server, and a handler that records its events.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/cache/informer.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel::tests {

/// Blocks until `condition` holds, checking it at each change.
class Board {
 public:
  template <class Change>
  void change(Change change) {
    std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <class Condition>
  void wait(Condition condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, condition);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class ScriptedCall final : public http::Call {
 public:
  explicit ScriptedCall(Board& board) : board_(board) {}
  void cancel() noexcept override {
    board_.change([this] { cancelled = true; });
  }
  void pause() noexcept override {
    board_.change([this] { paused = true; });
  }
  void resume() noexcept override {
    board_.change([this] { paused = false; });
  }
  bool cancelled = false;
  bool paused = false;

 private:
  Board& board_;
};

/// Collects the informer's streams until the test answers them.
class ScriptedSource final : public CollectionSource {
 public:
  struct Stream {
    ReflectorStep step;
    std::shared_ptr<http::StreamHandler> handler;
    std::shared_ptr<ScriptedCall> call;

    void answer(const std::string& body, int status = 200) const {
      handler->on_response(status, {});
      handler->on_data(body);
      handler->on_end(nullptr);
    }
    void open(int status = 200) const { handler->on_response(status, {}); }
    void send(std::string_view text) const { handler->on_data(text); }
    void end(std::exception_ptr error = nullptr) const { handler->on_end(std::move(error)); }
  };

  std::shared_ptr<http::Call> stream(const ReflectorStep& step,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    auto call = std::make_shared<ScriptedCall>(board);
    board.change([&] { streams_.push_back({step, std::move(handler), call}); });
    return call;
  }

  /// Waits for and returns the next stream.
  Stream next() {
    board.wait([this] { return taken_ < streams_.size(); });
    return streams_[taken_++];
  }
  std::size_t waiting() { return streams_.size() - taken_; }
  /// Returns the stream that next() returned last.
  Stream last() { return streams_[taken_ - 1]; }

  Board board;

 private:
  std::vector<Stream> streams_;
  std::size_t taken_ = 0;
};

/// Records its events: "added a@1 initial", "synced".
class Notes final : public EventHandler {
 public:
  void on_event(const ObjectEvent& event) noexcept override {
    static const char* const types[] = {"added ", "updated ", "deleted "};
    std::string line = types[static_cast<int>(event.type)] + std::string(event.object->name()) + "@" +
                       std::string(event.object->resource_version());
    if (event.old != nullptr) line += " from " + std::string(event.old->resource_version());
    if (event.initial) line += " initial";
    if (event.final_state_unknown) line += " unknown";
    note(line);
  }
  void on_synced() noexcept override { note("synced"); }

  /// Waits for `count` lines; returns all.
  std::vector<std::string> lines(std::size_t count) {
    board_.wait([&] { return lines_.size() >= count; });
    return now();
  }
  /// Waits until the last line is this one; returns all.
  std::vector<std::string> until(const std::string& last) {
    board_.wait([&] { return !lines_.empty() && lines_.back() == last; });
    return now();
  }
  std::vector<std::string> now() {
    std::vector<std::string> copy;
    board_.change([&] { copy = lines_; });
    return copy;
  }

 private:
  void note(std::string line) {
    board_.change([&] { lines_.push_back(std::move(line)); });
  }
  Board board_;
  std::vector<std::string> lines_;
};

}  // namespace evenkeel::tests
