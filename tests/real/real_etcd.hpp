// SPDX-License-Identifier: Apache-2.0
// One etcd, for tests: of the control plane (scripts/control-plane) or of Debian (scripts/get-program).
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "../support/await.hpp"
#include "testing/control_plane/child_process.hpp"
#include "testing/control_plane/component_files.hpp"
#include "testing/control_plane/control_plane.hpp"

namespace evenkeel::tests {

/// Runs from construction, on separate ports. The data is kept over kill() and start().
class RealEtcd {
 public:
  explicit RealEtcd(std::string program, std::vector<std::string> flags = {"--unsafe-no-fsync"})
      : program_(std::move(program)), flags_(std::move(flags)) {
    constexpr int attempts = 5;
    for (int attempt = 1; !try_to_start(); ++attempt)
      if (attempt == attempts) throw Error(program_ + " " + process_.ending() + "; see its log");
  }
  ~RealEtcd() {
    process_.kill();
    keeper_.finish();
  }
  RealEtcd(const RealEtcd&) = delete;
  RealEtcd& operator=(const RealEtcd&) = delete;

  const std::string& url() const { return url_; }
  /// Kills it without a graceful shutdown.
  void kill() { process_.kill(); }
  /// Starts it after kill(), on the same port. Returns once it responds.
  void start() {
    launch();
    await("etcd to answer again", [this] { return answers() || !process_.running(); });
    if (!process_.running()) throw Error(program_ + " " + process_.ending());
  }

  /// Posts to its API; returns responses of any status.
  http::Response post(const std::string& path, const std::string& body, const std::string& token = {}) const {
    http::Request request{.method = http::Method::post, .target = path, .body = body};
    if (!token.empty()) request.headers.set("Authorization", token);
    return http::make_curl_transport({.server = url_, .proxy = ""})->fetch(std::move(request));
  }
  /// Returns "3.4.23".
  std::string version() const {
    const auto transport = http::make_curl_transport({.server = url_, .proxy = ""});
    return Json::parse(transport->fetch({.target = "/version"}).body)["etcdserver"].as_string();
  }

 private:
  static std::string free_url() {
    const testing::ReservedPort port;
    return "http://127.0.0.1:" + std::to_string(port.number());
  }

  // Returns false if it ended: another process may have taken the port.
  bool try_to_start() {
    url_ = free_url();
    peer_url_ = free_url();
    data_ = keeper_.directory() + "/data" + url_.substr(url_.rfind(':') + 1);
    launch();
    await("etcd to answer", [this] { return answers() || !process_.running(); });
    return process_.running();
  }

  void launch() {
    std::vector<std::string> command = {program_,
                                        "--data-dir=" + data_,
                                        "--listen-client-urls=" + url_,
                                        "--advertise-client-urls=" + url_,
                                        "--listen-peer-urls=" + peer_url_,
                                        "--initial-advertise-peer-urls=" + peer_url_,
                                        "--initial-cluster=default=" + peer_url_};
    command.insert(command.end(), flags_.begin(), flags_.end());
    process_.start(command, keeper_.directory() + "/etcd.log", keeper_.group());
  }

  bool answers() const {
    try {
      const auto transport = http::make_curl_transport({.server = url_, .proxy = ""});
      return transport->fetch({.target = "/health"}).status == 200;
    } catch (const TransportError&) {
      return false;
    }
  }

  const std::string program_;
  const std::vector<std::string> flags_;
  testing::ProcessKeeper keeper_;
  testing::ChildProcess process_;
  std::string url_;
  std::string peer_url_;
  std::string data_;
};

/// Returns the etcd of the control plane, 3.6.
inline std::string new_etcd() {
  const testing::ComponentFiles files = testing::find_components({}, testing::FileSearch::of_this_machine());
  if (files.etcd.empty()) throw Error(files.problem);
  return files.etcd;
}
/// Returns the etcd of Debian 12, 3.4.
inline std::string old_etcd() {
  return EVENKEEL_OLD_ETCD;
}

}  // namespace evenkeel::tests
