// SPDX-License-Identifier: Apache-2.0
// A core for tests of the shells: echoes requests, and has watches whose output a test provides.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/shell/core_host.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// GET /watch/NAME starts a watch; GET /big/N responds with N bytes; all other requests echo method, target,
/// caller and body. Runs under the host's lock, like every backend: call feed() through CoreHost::with().
class ScriptedBackend final : public detail::Backend {
 public:
  Answer handle(const http::Request& request, WallTime, const Caller& caller, const CacheLag& lag) override {
    requests.push_back(request);
    lags.push_back(lag);
    Answer answer;
    answer.response.status = 200;
    answer.response.headers.set("Content-Type", "application/json");
    if (request.target.starts_with("/watch/") || request.target.find("watch=1") != std::string::npos) {
      answer.watch = WatchId{++last_};
      watches_[*answer.watch].name = request.target;
      return answer;
    }
    if (request.target.starts_with("/big/")) {
      answer.response.body.assign(std::stoul(request.target.substr(5)), 'x');
      return answer;
    }
    answer.response.body = std::string(http::method_name(request.method)) + " " + request.target + " " +
                           caller.user + " " + request.body;
    return answer;
  }

  WatchOutput read_watch(WatchId id) override {
    const auto at = watches_.find(id);
    if (at == watches_.end()) return {.bytes = {}, .ended = true};
    WatchOutput output{.bytes = std::exchange(at->second.unread, {}), .ended = at->second.over};
    if (output.ended) watches_.erase(at);
    return output;
  }
  std::vector<WatchId> ready_watches() override { return std::exchange(ready_, {}); }
  void catch_up(WatchId id) override { caught_up.push_back(id); }
  void close_watch(WatchId id) override { watches_.erase(id); }
  void on_timeout(WallTime now) override {
    if (next && *next <= now) {
      next.reset();
      ++ticks;
    }
  }
  std::optional<WallTime> next_due() const override { return next; }

  /// Adds output to all watches whose target contains `name`.
  void feed(const std::string& name, const std::string& bytes, bool over = false) {
    for (auto& [id, watch] : watches_) {
      if (watch.name.find(name) == std::string::npos) continue;
      watch.unread += bytes;
      watch.over = over;
      ready_.push_back(id);
    }
  }
  std::size_t watches() const { return watches_.size(); }

  std::vector<http::Request> requests;
  std::vector<CacheLag> lags;  ///< One entry for each request.
  std::vector<WatchId> caught_up;
  std::optional<WallTime> next;
  int ticks = 0;

 private:
  struct Watch {
    std::string name;
    std::string unread;
    bool over = false;
  };
  std::map<WatchId, Watch> watches_;
  std::vector<WatchId> ready_;
  std::uint64_t last_ = 0;
};

/// A host with a ScriptedBackend, and access to the backend.
struct ScriptedHost {
  explicit ScriptedHost(SharedCoreOptions options = {}) {
    auto owned = std::make_unique<ScriptedBackend>();
    backend = owned.get();
    host = std::make_shared<detail::CoreHost>(std::move(owned), std::move(options));
  }
  void feed(const std::string& name, const std::string& bytes, bool over = false) {
    host->with([&](detail::Backend&) { backend->feed(name, bytes, over); });
  }
  std::size_t watches() {
    std::size_t count = 0;
    host->with([&](detail::Backend&) { count = backend->watches(); });
    return count;
  }

  ScriptedBackend* backend = nullptr;
  std::shared_ptr<detail::CoreHost> host;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
