// SPDX-License-Identifier: Apache-2.0
// The admin API of the simulated database over HTTP. Each caller has a door of its own, a port, so that the
// journal knows who called, and one caller can be cut off while the others go on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/serve/server.hpp>

#include "ring_database.hpp"

/// The database, and what guards it: doors and nodes come from several threads.
struct SharedRing {
  SharedRing(RingDatabaseOptions options, std::shared_ptr<const ek::Clock> clock_)
      : clock(std::move(clock_)), started(clock->wall_now()), database(options, clock->now()) {}

  std::shared_ptr<const ek::Clock> clock;
  ek::WallTime started;
  ek::Mutex mutex;
  RingDatabase database EVENKEEL_GUARDED_BY(mutex);
};

/// What one caller speaks to. With a fault it is:
/// - `cut`: nobody listens; `hang`: takes calls and does not answer before it is opened again;
/// - `slow`: answers late; `refuse`: 503, nothing done; `lose`: done, but the answer says 504.
/// Thread safety: all members may be called concurrently.
class RingDoor {
 public:
  RingDoor(std::string name, SharedRing& ring);
  ~RingDoor();

  const std::string& name() const noexcept { return name_; }
  std::string url() const;
  /// Throws ek::Error if its port is taken by somebody else when it is opened after a cut.
  void set_fault(const RingFault& fault);

 private:
  void open();
  void close();
  ek::http::Response answer(const ek::http::ServerCall& call);
  std::optional<ek::http::Response> suffer(bool& lose);
  ek::http::Response perform(const ek::http::ServerCall& call);

  const std::string name_;
  SharedRing& ring_;
  std::string address_ = "127.0.0.1:0";  // written by the constructor only
  ek::Mutex serving_mutex_;
  std::unique_ptr<ek::http::Server> server_ EVENKEEL_GUARDED_BY(serving_mutex_);
  ek::Mutex mutex_;
  ek::CondVar changed_;
  RingFault fault_ EVENKEEL_GUARDED_BY(mutex_) = {.door = {}, .kind = "open"};
  bool closing_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

/// The doors of all callers, and one for who watches: /status, /journal, /faults, /doors.
class RingDoors {
 public:
  /// `admin` is "host:port", port 0 for a free one.
  RingDoors(SharedRing& ring, const std::vector<std::string>& callers, const std::string& admin);

  std::string admin_url() const { return server_.url(0); }
  /// {"admin": "http://...", "dc1": "http://...", ...}
  std::string urls() const;

 private:
  ek::http::Response set_fault(const ek::http::ServerCall& call);

  SharedRing& ring_;
  std::vector<std::unique_ptr<RingDoor>> doors_;
  ek::http::Server server_;  // last: its handlers use the rest
};
