// SPDX-License-Identifier: Apache-2.0
// The database that several operators look after, as they see it: what its status says, and the few commands
// that disturb it. Implement AdminClient for a database of yours.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The keys of a process's locality that the rules look at.
namespace locality {
inline constexpr std::string_view instance_id = "instance_id";  ///< The id of its process group.
inline constexpr std::string_view zone_id = "zoneid";
inline constexpr std::string_view dc_id = "dcid";
inline constexpr std::string_view data_hall = "data_hall";
inline constexpr std::string_view dns_name = "dns_name";
}  // namespace locality

/// One process as the database reports it.
struct EVENKEEL_API DatabaseProcess {
  std::string address = {};  ///< With its port: "10.1.0.3:4501".
  std::string process_class = {};
  std::map<std::string, std::string, std::less<>> locality = {};
  std::string version = {};
  std::string command_line = {};
  bool excluded = false;
  bool under_maintenance = false;
  Duration uptime = {};
  /// What it does for the database. An excluded process without roles may go.
  std::vector<std::string> roles = {};

  /// The value of a locality, "" if it has none.
  std::string_view where(std::string_view key) const;
  /// The id of its process group, "" if it does not say.
  std::string_view group() const { return where(locality::instance_id); }
  bool has_role(std::string_view role) const;
  /// Its DNS name with its port; "" if it has none.
  std::string dns_address() const;
  /// Whether a text of DatabaseStatus::coordinators means this process.
  bool is_known_as(std::string_view coordinator) const;
};

/// What the database says of itself at one moment.
struct EVENKEEL_API DatabaseStatus {
  bool available = true;         ///< Clients can read and write.
  std::uint64_t generation = 0;  ///< Grows with each recovery.
  std::size_t active_generations = 1;
  std::string recovery_state = "fully_recovered";
  Duration since_last_recovery = {};
  std::optional<bool> can_clean_bounce = {};  ///< Nothing: it does not say.
  /// Nothing: as many copies as wanted; else what is missing, for people.
  std::optional<std::string> degraded = {};
  std::string connection_string = {};  ///< Names the coordinators.
  std::vector<DatabaseProcess> processes = {};
  std::vector<std::string> coordinators = {};  ///< Addresses, or DNS names, with ports.
  std::vector<std::string> exclusions = {};    ///< Addresses and "locality_...:..." texts.

  /// The processes of a group. Several in one Pod are reported as <id>-1, <id>-2... or all as <id>.
  std::vector<const DatabaseProcess*> of_group(std::string_view id) const;
  bool is_coordinator(const DatabaseProcess& process) const;
};

/// By whose agreement a command is sent. A database that remembers the highest epoch of each action can
/// refuse the command of an instance that was thought dead, and of which another has taken over.
struct Fence {
  std::string caller = {};  ///< For the journal of the database: the instance.
  std::string action = {};  ///< "exclusion", "restart"...
  std::uint64_t epoch = 0;  ///< 0: without agreement (local mode).
};

/// The database did not answer, refused or failed. Whether it carried the command out has to be seen from its
/// status.
class EVENKEEL_API DatabaseError : public Error {
 public:
  using Error::Error;
};

/// Thread safety: all members may be called concurrently. Blocks: each call, until the database has answered
/// or the client's own timeout has passed. Errors: DatabaseError; Cancelled on a stop.
class EVENKEEL_API AdminClient {
 public:
  virtual ~AdminClient() = default;

  virtual DatabaseStatus status(std::stop_token stop = {}) = 0;
  /// From now on refuses commands of fence.action with a lower epoch. Called before the database is asked
  /// what a command of such an epoch has done, so that it is not carried out afterwards. What cannot refuse
  /// does nothing, as here; then an instance that slept longer than a claim lasts may disturb the database
  /// once more.
  virtual void raise_fence(const Fence& fence, std::stop_token stop = {});
  /// Moves roles and data away from `targets` (addresses, or ProcessGroup::exclusion_text()). Returns as soon
  /// as that is under way; DatabaseProcess::roles shows when it is done.
  virtual void exclude(const std::vector<std::string>& targets, const Fence& fence,
                       std::stop_token stop = {}) = 0;
  /// Forgets that `targets` are excluded.
  virtual void include(const std::vector<std::string>& targets, const Fence& fence,
                       std::stop_token stop = {}) = 0;
  /// Restarts the processes at once.
  virtual void kill(const std::vector<std::string>& addresses, const Fence& fence,
                    std::stop_token stop = {}) = 0;
  /// Makes exactly these the coordinators; the new connection string.
  virtual std::string change_coordinators(const std::vector<std::string>& coordinators, const Fence& fence,
                                          std::stop_token stop = {}) = 0;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
