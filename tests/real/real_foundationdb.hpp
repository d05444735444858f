// SPDX-License-Identifier: Apache-2.0
// A FoundationDB cluster of this machine, for tests: the servers of FDB_PREFIX/bin, or of the installed
// packages.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "../support/await.hpp"
#include "testing/control_plane/child_process.hpp"
#include "testing/control_plane/control_plane.hpp"

namespace evenkeel::tests {

/// Runs from the constructor on, on ports of its own. The data of a server stays over kill() and start().
class RealFoundationDb {
 public:
  /// One server keeps its data in memory; three keep two copies of it in files.
  explicit RealFoundationDb(std::size_t servers) : servers_(servers), processes_(servers) {
    reserve_ports();
    std::ofstream(cluster_file()) << "evenkeel:evenkeel@" << address(0) << "\n";
    for (std::size_t i = 0; i < servers; ++i) start(i);
    ask(servers == 1 ? "configure new single memory" : "configure new double ssd-2");
    if (servers > 1) ask("coordinators auto");
    wait_until_settled();
  }
  ~RealFoundationDb() {
    for (testing::ChildProcess& process : processes_) process.kill();
    keeper_.finish();
  }
  RealFoundationDb(const RealFoundationDb&) = delete;
  RealFoundationDb& operator=(const RealFoundationDb&) = delete;

  std::string cluster_file() const { return keeper_.directory() + "/fdb.cluster"; }
  std::size_t servers() const { return servers_; }

  /// Ends a server as a crash would.
  void kill(std::size_t server) { processes_.at(server).kill(); }
  void start(std::size_t server) {
    const std::string number = std::to_string(server);
    const std::string log = keeper_.directory() + "/server" + number + ".log";
    processes_.at(server).start(
        {program("fdbserver", "/usr/sbin"), "-p", address(server), "-C", own_cluster_file(server), "-d",
         keeper_.directory() + "/data" + number, "-L", keeper_.directory(), "--locality-machineid", number,
         "--locality-zoneid", number, "--knob_disable_posix_kernel_aio=1"},
        log, keeper_.group());
  }
  void stop(std::size_t server) { processes_.at(server).signal(SIGSTOP); }
  void go_on(std::size_t server) { processes_.at(server).signal(SIGCONT); }

  void wait_until_available() {
    await("FoundationDB to be available",
          [this] { return run_cli("status minimal", " | grep -q 'The database is available'"); });
  }
  /// Waits until the last recovery is some seconds old. One may follow another, as better servers for a role
  /// come back, and makes unknown what is committed just then.
  void wait_until_settled() {
    await("FoundationDB to recover no more", [this] {
      const std::string file = keeper_.directory() + "/status.json";
      if (!run_cli("status json", " >" + file)) return false;
      std::stringstream text;
      text << std::ifstream(file).rdbuf();
      const Json status = Json::parse(text.str(), file);
      const Json& recovery = status.at({"cluster", "recovery_state"});
      const Json& age = recovery["seconds_since_last_recovered"];
      return recovery["name"].string_or("") == "fully_recovered" && age.is_number() && age.as_number() >= 5;
    });
  }

 private:
  /// A server does not share its ports, so they are free again when it starts.
  void reserve_ports() {
    std::vector<std::unique_ptr<testing::ReservedPort>> reserved;
    for (std::size_t i = 0; i < servers_; ++i) {
      reserved.push_back(std::make_unique<testing::ReservedPort>());
      ports_.push_back(reserved.back()->number());
    }
  }
  static std::string program(const std::string& name, const std::string& folder) {
    const char* prefix = std::getenv("FDB_PREFIX");
    return (prefix != nullptr ? std::string(prefix) + "/bin" : folder) + "/" + name;
  }
  std::string address(std::size_t server) const { return "127.0.0.1:" + std::to_string(ports_.at(server)); }
  /// Servers rewrite their files when the coordinators change, and so each has its own.
  std::string own_cluster_file(std::size_t server) const {
    const std::string file = cluster_file() + std::to_string(server);
    if (!std::ifstream(file)) std::ofstream(file) << std::ifstream(cluster_file()).rdbuf();
    return file;
  }
  bool run_cli(const std::string& command, const std::string& rest) const {
    const std::string line = program("fdbcli", "/usr/bin") + " -C " + cluster_file() +
                             " --timeout 20 --exec '" + command + "' 2>/dev/null" + rest;
    return std::system(line.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): no other thread has begun
  }
  void ask(const std::string& command) {
    await("fdbcli: " + command, [&] { return run_cli(command, " >/dev/null"); });
  }

  const std::size_t servers_;
  testing::ProcessKeeper keeper_;
  std::vector<std::uint16_t> ports_;
  std::vector<testing::ChildProcess> processes_;
};

}  // namespace evenkeel::tests
