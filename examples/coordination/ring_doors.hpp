// SPDX-License-Identifier: Apache-2.0
// The admin API of the simulated database over HTTP. Each caller has its own port, called a door, so that the
// journal has the name of the caller, and one caller can be cut off while the others continue.
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

/// The database and its lock, since doors and nodes run on several threads.
struct SharedRing {
  SharedRing(RingDatabaseOptions options, std::shared_ptr<const ek::Clock> clock_)
      : clock(std::move(clock_)), started(clock->wall_now()), database(options, clock->now()) {}

  std::shared_ptr<const ek::Clock> clock;
  ek::WallTime started;
  ek::Mutex mutex;
  RingDatabase database EVENKEEL_GUARDED_BY(mutex);
};

/// The port of one caller. With a fault it behaves as follows:
/// - `cut`: does not listen; `hang`: accepts calls and does not answer until it is opened again;
/// - `slow`: answers late; `refuse`: 503, and nothing is done; `lose`: the call is executed, but the answer
///   is 504.
/// Thread safety: all members may be called concurrently.
class RingDoor {
 public:
  RingDoor(std::string name, SharedRing& ring);
  ~RingDoor();

  const std::string& name() const noexcept { return name_; }
  std::string url() const;
  /// Throws ek::Error if its port is in use when it is opened after a cut.
  void set_fault(const RingFault& fault);

 private:
  void open();
  void close();
  ek::http::Response answer(const ek::http::ServerCall& call);
  std::optional<ek::http::Response> suffer(bool& lose);
  ek::http::Response perform(const ek::http::ServerCall& call);

  const std::string name_;
  SharedRing& ring_;
  std::string address_ = "127.0.0.1:0";  // written only by the constructor
  ek::Mutex serving_mutex_;
  std::unique_ptr<ek::http::Server> server_ EVENKEEL_GUARDED_BY(serving_mutex_);
  ek::Mutex mutex_;
  ek::CondVar changed_;
  RingFault fault_ EVENKEEL_GUARDED_BY(mutex_) = {.door = {}, .kind = "open"};
  bool closing_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

/// The doors of all callers, and an admin port: /status, /journal, /faults, /doors.
class RingDoors {
 public:
  /// `admin` is "host:port"; port 0 chooses a free one.
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
