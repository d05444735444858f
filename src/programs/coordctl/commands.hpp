// SPDX-License-Identifier: Apache-2.0
// What coordctl does: each command asks or changes the store once, and says what came of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::program {

/// How the program ends; wrong flags are 2.
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int refused = 3;  ///< Nothing was changed, and standard error says why.

struct CoordFlags {
  std::string store = {};
  std::string root = {};
  std::string kubeconfig = {};
  std::string ca_file = {};           ///< Of etcds://.
  bool credentials_in_clear = false;  ///< Of etcd://.
  std::string writer = {};            ///< Stands in what is written.

  bool json = false;                 ///< show
  std::string interval = "2s";       ///< watch
  std::size_t times = 0;             ///< watch: tables to print, 0: until it is stopped.
  std::string scope = {};            ///< deny, allow, drain, migrate, janitor
  std::string reason = {};           ///< deny
  std::string to = {};               ///< migrate
  bool any_owner = false;            ///< migrate
  std::string silence = "10m";       ///< janitor
  bool wait = false;                 ///< janitor: until the scope has been silent for that long
  std::string quiet_window = "30s";  ///< watch: that of the operators
  std::string silent_after = "1m";   ///< watch: likewise
};

/// The store and the keys that the flags name. Throws std::invalid_argument, ConfigError.
struct Target {
  explicit Target(const CoordFlags& flags);

  std::shared_ptr<coordination::Store> store;
  coordination::Layout layout;
};

int show(const CoordFlags& flags);
/// Prints the table anew whenever something in it changes; the store's hints make that soon.
int watch(const CoordFlags& flags);
int deny(const CoordFlags& flags);
int allow(const CoordFlags& flags);
int unlock(const CoordFlags& flags);
int drain(const CoordFlags& flags);
int migrate(const CoordFlags& flags);
int janitor(const CoordFlags& flags);

}  // namespace evenkeel::program
