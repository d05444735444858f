// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int word = 0; word < 4; ++word) {
    constexpr std::string_view hex = "0123456789abcdef";
    for (auto [bits, digit] = std::pair(device(), 0); digit < 8; ++digit, bits >>= 4U)
      token += hex[bits & 15U];
  }
  return token;
}

/// Changes `delay` by up to a half in either direction. A simple generator is enough to spread writers.
Duration spread(Duration delay, std::uint64_t& random) {
  random = random * 6364136223846793005ULL + 1442695040888963407ULL;
  const auto percent = static_cast<std::int64_t>((random >> 33U) % 101U);  // 0..100
  return delay / 2 + delay / 100 * percent;
}

void check(const TransactOptions& options) {
  if (options.token_key.empty()) throw std::invalid_argument("transact: token_key must not be empty");
  if (options.max_runs == 0) throw std::invalid_argument("transact: max_runs must be > 0");
  if (options.delay < Duration::zero()) throw std::invalid_argument("transact: delay must not be negative");
  if (!options.clock) throw std::invalid_argument("transact: clock must not be null");
}

/// One transaction. Its steps return whether to run again or to end.
class Transaction {
 public:
  Transaction(Store& store, const TransactBody& body, const TransactOptions& options,
              const std::stop_token& stop)
      : store_(store),
        body_(body),
        options_(options),
        stop_(stop),
        token_(options.token.empty() ? random_token() : options.token),
        random_(std::hash<std::string>{}(token_)) {}

  Transacted run() {
    do {
      if (!pause()) {
        finish(Unavailable{"stopped"});
        break;
      }
    } while (attempt() == Next::again);
    return result_;
  }

 private:
  enum class Next : std::uint8_t { again, done };

  Next attempt() {
    try {
      const auto snapshot = store_.snapshot(stop_);
      const std::optional<Entry> token = snapshot->get(options_.token_key);
      if (was_applied(token)) return Next::done;
      // One more read of the token than there are runs, to learn the outcome of the last commit.
      if (result_.runs == options_.max_runs) return finish(last_);
      ++result_.runs;
      Commit commit = body_(*snapshot);
      const bool writes = commit.writes();
      if (!writes && lost_.empty()) {
        result_.run = result_.runs - 1;
        return finish(Committed{snapshot->version()});
      }
      return after(send(std::move(commit), snapshot->version(), token), writes);
    } catch (const SnapshotExpired& error) {
      return again(Unavailable{error.what()});
    } catch (const StoreUnavailable& error) {
      return unavailable(Unavailable{error.what()});
    } catch (const Cancelled&) {
      return finish(Unavailable{"stopped"});
    }
  }

  CommitResult send(Commit commit, Version read_version, const std::optional<Entry>& token) {
    commit.read_version = read_version;
    commit.reads.push_back({options_.token_key, token ? token->version : 0});
    commit.puts.push_back({options_.token_key, token_of(result_.runs - 1)});
    return store_.commit(commit, stop_);
  }

  Next after(const CommitResult& outcome, bool writes) {
    if (const auto* committed = std::get_if<Committed>(&outcome)) {
      result_.wrote = writes;
      result_.run = result_.runs - 1;
      lost_.clear();
      return finish(*committed);
    }
    if (std::holds_alternative<Unknown>(outcome)) {
      ++result_.unknowns;
      lost_.push_back({result_.runs - 1, writes});
      return again(outcome);
    }
    if (std::holds_alternative<Conflict>(outcome)) {
      ++result_.conflicts;
      skip_delay_ = result_.conflicts == 1;
      return again(outcome);
    }
    if (std::holds_alternative<Unavailable>(outcome)) return unavailable(outcome);
    return finish(outcome);
  }

  /// Returns true if the token is that of a commit whose answer was lost, which resolves the outcome.
  bool was_applied(const std::optional<Entry>& token) {
    if (!token) return false;
    const auto is_its = [&](const Lost& lost) { return token->value == token_of(lost.run); };
    const auto found = std::ranges::find_if(lost_, is_its);
    if (found == lost_.end()) return false;
    result_.wrote = found->wrote;
    result_.run = found->run;
    result_.outcome = Committed{token->version};
    return true;
  }

  Next unavailable(const CommitResult& outcome) { return lost_.empty() ? finish(outcome) : again(outcome); }

  Next again(const CommitResult& outcome) {
    last_ = outcome;
    ++failures_;
    const bool runs_left = result_.runs < options_.max_runs || !lost_.empty();
    return runs_left && failures_ <= options_.max_runs ? Next::again : finish(outcome);
  }

  /// Ends as Unknown if a lost commit is unresolved.
  Next finish(const CommitResult& outcome) {
    result_.outcome = outcome;
    if (!lost_.empty() && !std::holds_alternative<Unknown>(outcome)) {
      result_.outcome = Unknown{"an answer was lost; then: " + describe(outcome)};
    }
    return Next::done;
  }

  /// Waits for the delay. Returns false if it was stopped.
  bool pause() {
    const bool wait =
        failures_ > 0 && options_.delay > Duration::zero() && !std::exchange(skip_delay_, false);
    if (!wait) return !stop_.stop_requested();
    const auto factor = std::int64_t{1} << std::min(failures_ - 1, 20U);
    const Duration delay = std::min(options_.delay * factor, options_.max_delay);
    const Duration wanted = spread(delay, random_);
    return sleep_until(*options_.clock, deadline_after(options_.clock->now(), wanted), stop_);
  }

  std::string token_of(unsigned run) const { return token_ + "#" + std::to_string(run); }

  struct Lost {
    unsigned run;
    bool wrote;
  };

  Store& store_;
  const TransactBody& body_;
  const TransactOptions& options_;
  const std::stop_token& stop_;
  const std::string token_;
  std::uint64_t random_;
  Transacted result_;
  std::vector<Lost> lost_;  // commits whose answer was lost
  CommitResult last_ = Unavailable{};
  unsigned failures_ = 0;
  bool skip_delay_ = false;
};

}  // namespace

Transacted transact(Store& store, const TransactBody& body, const TransactOptions& options,
                    const std::stop_token& stop) {
  check(options);
  return Transaction(store, body, options, stop).run();
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
