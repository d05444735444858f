// SPDX-License-Identifier: Apache-2.0
// The database that several operators manage: its status, and the commands that disrupt it. Implement
// AdminClient for your database.
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

/// Keys of a process's locality that the rules use.
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
  /// Roles in the database. An excluded process without roles may be removed.
  std::vector<std::string> roles = {};

  /// Returns the value of a locality; "" if it is not set.
  std::string_view where(std::string_view key) const;
  /// Returns the id of the process group; "" if the process does not report it.
  std::string_view group() const { return where(locality::instance_id); }
  bool has_role(std::string_view role) const;
  /// Returns the DNS name with the port; "" if there is none.
  std::string dns_address() const;
  /// Returns true if `coordinator`, an element of DatabaseStatus::coordinators, means this process.
  bool is_known_as(std::string_view coordinator) const;
};

/// The status that the database reports at one moment.
struct EVENKEEL_API DatabaseStatus {
  bool available = true;         ///< Clients can read and write.
  std::uint64_t generation = 0;  ///< Grows with each recovery.
  std::size_t active_generations = 1;
  std::string recovery_state = "fully_recovered";
  Duration since_last_recovery = {};
  std::optional<bool> can_clean_bounce = {};  ///< Unset: not reported.
  /// The missing redundancy, for people. Unset: the data has all wanted copies.
  std::optional<std::string> degraded = {};
  std::string connection_string = {};  ///< Names the coordinators.
  std::vector<DatabaseProcess> processes = {};
  std::vector<std::string> coordinators = {};  ///< Addresses, or DNS names, with ports.
  std::vector<std::string> exclusions = {};    ///< Addresses and "locality_...:..." texts.

  /// Returns the processes of a group. Several in one Pod are reported as <id>-1, <id>-2... or all as <id>.
  std::vector<const DatabaseProcess*> of_group(std::string_view id) const;
  bool is_coordinator(const DatabaseProcess& process) const;
};

/// The agreement under which a command is sent. A database that remembers the highest epoch of each action
/// can refuse commands of an instance that was considered dead and whose claim was taken over.
struct Fence {
  std::string caller = {};  ///< The instance, for the audit log of the database.
  std::string action = {};  ///< "exclusion", "restart"...
  std::uint64_t epoch = 0;  ///< The epoch of the claim; 0: without agreement (local mode).
};

/// Thrown if the database did not answer, refused or failed. Whether it executed the command can be
/// determined only from its status.
class EVENKEEL_API DatabaseError : public Error {
 public:
  using Error::Error;
};

/// The interface of the commands of the database.
/// Thread safety: all members may be called concurrently. Blocks: until the database has answered or the
/// client's own timeout has passed. Errors: DatabaseError; Cancelled on a stop.
class EVENKEEL_API AdminClient {
 public:
  virtual ~AdminClient() = default;

  virtual DatabaseStatus status(std::stop_token stop = {}) = 0;
  /// Makes the database refuse commands of fence.action with a lower epoch from now on. It is called before
  /// the status is queried for the effects of a command of such an epoch, so that the command is not executed
  /// afterwards. The default does nothing, for databases without fencing; an instance that was paused for
  /// longer than a claim lasts may then disrupt the database once more.
  virtual void raise_fence(const Fence& fence, std::stop_token stop = {});
  /// Moves roles and data away from `targets` (addresses, or ProcessGroup::exclusion_text()). Returns once
  /// that has started; DatabaseProcess::roles shows when it is complete.
  virtual void exclude(const std::vector<std::string>& targets, const Fence& fence,
                       std::stop_token stop = {}) = 0;
  /// Ends the exclusion of `targets`.
  virtual void include(const std::vector<std::string>& targets, const Fence& fence,
                       std::stop_token stop = {}) = 0;
  /// Restarts the processes at once.
  virtual void kill(const std::vector<std::string>& addresses, const Fence& fence,
                    std::stop_token stop = {}) = 0;
  /// Makes exactly these processes the coordinators. Returns the new connection string.
  virtual std::string change_coordinators(const std::vector<std::string>& coordinators, const Fence& fence,
                                          std::stop_token stop = {}) = 0;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
