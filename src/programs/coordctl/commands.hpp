// SPDX-License-Identifier: Apache-2.0
// The commands of coordctl: each reads or changes the store once and reports the result.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/store_url.hpp>

namespace evenkeel::program {

/// Exit codes; 2 is for invalid flags.
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int refused = 3;  ///< Nothing was changed; standard error has the reason.

struct CoordFlags {
  std::string store = {};
  std::vector<coordination::StoreScheme> schemes = {};  ///< Beside those of open_store().
  std::string root = {};
  std::string kubeconfig = {};
  std::string ca_file = {};           ///< For etcds://.
  bool credentials_in_clear = false;  ///< For etcd://.
  std::string writer = {};            ///< Writer named in the records.

  bool json = false;                 ///< show
  std::string interval = "2s";       ///< watch
  std::size_t times = 0;             ///< watch: number of tables to print; 0: unlimited.
  std::string scope = {};            ///< deny, allow, drain, migrate, janitor
  std::string reason = {};           ///< deny
  std::string to = {};               ///< migrate
  bool any_owner = false;            ///< migrate
  std::string silence = "10m";       ///< janitor
  bool wait = false;                 ///< janitor: wait until the scope has been silent for that long
  std::string quiet_window = "30s";  ///< watch: as configured in the operators
  std::string silent_after = "1m";   ///< watch: as configured in the operators
};

/// The store and the keys that the flags select. Throws std::invalid_argument, ConfigError.
struct Target {
  explicit Target(const CoordFlags& flags);

  std::shared_ptr<coordination::Store> store;
  coordination::Layout layout;
};

/// Prints a problem, which may quote what other instances wrote, to standard error.
void show_problem(const std::string& problem);

int show(const CoordFlags& flags);
/// Prints the table again whenever it changes; hints of the store shorten the delay.
int watch(const CoordFlags& flags);
int deny(const CoordFlags& flags);
int allow(const CoordFlags& flags);
int unlock(const CoordFlags& flags);
int drain(const CoordFlags& flags);
int migrate(const CoordFlags& flags);
int janitor(const CoordFlags& flags);

}  // namespace evenkeel::program
