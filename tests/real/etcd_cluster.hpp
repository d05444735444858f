// SPDX-License-Identifier: Apache-2.0
// A cluster of three etcds as in production: TLS between members and for clients, which need a certificate,
// too.
#pragma once

#include <array>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/http/curl_transport.hpp>

#include "../support/await.hpp"
#include "apiserver/shell/tls_certificates.hpp"
#include "testing/control_plane/child_process.hpp"
#include "testing/control_plane/control_plane.hpp"

namespace evenkeel::tests {

/// Runs from construction. The data of a member is kept over kill() and start().
class EtcdCluster {
 public:
  static constexpr std::size_t members = 3;

  explicit EtcdCluster(std::string program) : program_(std::move(program)) {
    write_certificates();
    constexpr int attempts = 5;
    for (int attempt = 1; !try_to_start(); ++attempt)
      if (attempt == attempts) throw Error(program_ + " does not start as three members; see their logs");
  }
  ~EtcdCluster() {
    for (Member& member : members_) member.process.kill();
    keeper_.finish();
  }
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  const std::string& url(std::size_t member) const { return members_.at(member).url; }
  /// Returns all of them, `first` before the others.
  std::vector<std::string> urls(std::size_t first) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < members; ++i) all.push_back(url((first + i) % members));
    return all;
  }
  /// Returns the TLS options of a client. With a login, etcd's JSON API rejects certificates that have a
  /// common name.
  http::TlsOptions tls(const std::string& common_name = {}) const {
    const auto client = apiserver::make_client_certificate(authority_, {.user = common_name, .groups = {}});
    return {.ca_data = authority_.certificate, .cert_data = client.certificate, .key_data = client.key};
  }

  /// Kills a member without a graceful shutdown.
  void kill(std::size_t member) { members_.at(member).process.kill(); }
  /// Starts a member after kill(). Returns once it responds as a part of the cluster.
  void start(std::size_t member) {
    launch(member);
    await("the member to be back", [&] { return healthy(member); });
  }
  /// Simulates a network partition: connections stay open, and nothing is answered.
  void pause(std::size_t member) { members_.at(member).process.signal(SIGSTOP); }
  void resume(std::size_t member) {
    members_.at(member).process.signal(SIGCONT);
    await("the member to go on", [&] { return healthy(member); });
  }
  /// Returns the leader; std::nullopt if there is none, or if two members report leadership and one is
  /// outdated.
  std::optional<std::size_t> leader() const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < members; ++i) {
      if (!leads(i)) continue;
      if (found) return std::nullopt;
      found = i;
    }
    return found;
  }

  http::Response post(std::size_t member, const std::string& path, const std::string& body) const {
    return members_.at(member).transport->fetch({.method = http::Method::post, .target = path, .body = body});
  }

 private:
  struct Member {
    std::string url = {};
    std::string peer_url = {};
    testing::ChildProcess process = {};
    std::shared_ptr<http::Transport> transport = {};
  };

  std::string path(const std::string& name) const { return keeper_.directory() + "/" + name; }

  void write(const std::string& name, const apiserver::CertifiedKey& pair) const {
    std::ofstream(path(name + ".crt")) << pair.certificate;
    std::ofstream(path(name + ".key")) << pair.key;
  }

  void write_certificates() const {
    write("authority", authority_);
    write("member", apiserver::make_member_certificate(authority_, {"localhost", "127.0.0.1"}));
  }

  static std::string free_url() {
    const testing::ReservedPort port;
    return "https://127.0.0.1:" + std::to_string(port.number());
  }

  // Returns false if one ended: another process may have taken a port.
  bool try_to_start() {
    ++attempt_;
    for (Member& member : members_) {
      member.process.kill();
      member.url = free_url();
      member.peer_url = free_url();
      member.transport = http::make_curl_transport({.server = member.url,
                                                    .tls = tls(),
                                                    .proxy = "",
                                                    .request_timeout = std::chrono::seconds{2},
                                                    .connect_timeout = std::chrono::seconds{1}});
    }
    for (std::size_t i = 0; i < members; ++i) launch(i);
    for (std::size_t i = 0; i < members; ++i) {
      await("the three to be one", [&] { return healthy(i) || !members_.at(i).process.running(); });
    }
    return healthy(0) && healthy(1) && healthy(2);
  }

  void launch(std::size_t index) {
    Member& member = members_.at(index);
    std::string cluster;
    for (std::size_t i = 0; i < members; ++i) {
      cluster += (i == 0 ? "m" : ",m") + std::to_string(i) + "=" + members_.at(i).peer_url;
    }
    const std::string name = "m" + std::to_string(index);
    std::vector<std::string> command = {program_,
                                        "--name=" + name,
                                        "--data-dir=" + path(name + "-" + std::to_string(attempt_)),
                                        "--listen-client-urls=" + member.url,
                                        "--advertise-client-urls=" + member.url,
                                        "--listen-peer-urls=" + member.peer_url,
                                        "--initial-advertise-peer-urls=" + member.peer_url,
                                        "--initial-cluster=" + cluster,
                                        "--client-cert-auth",
                                        "--peer-client-cert-auth"};
    for (const char* kind : {"", "peer-"}) {
      command.push_back(std::string("--") + kind + "trusted-ca-file=" + path("authority.crt"));
      command.push_back(std::string("--") + kind + "cert-file=" + path("member.crt"));
      command.push_back(std::string("--") + kind + "key-file=" + path("member.key"));
    }
    member.process.start(command, path(name + ".log"), keeper_.group());
  }

  bool healthy(std::size_t member) const {
    try {
      return members_.at(member).transport->fetch({.target = "/health"}).status == 200;
    } catch (const TransportError&) {
      return false;
    }
  }

  bool leads(std::size_t member) const {
    try {
      const std::string metrics = members_.at(member).transport->fetch({.target = "/metrics"}).body;
      return metrics.find("\netcd_server_is_leader 1\n") != std::string::npos;
    } catch (const TransportError&) {
      return false;
    }
  }

  const std::string program_;
  const apiserver::CertifiedKey authority_ = apiserver::make_authority();
  testing::ProcessKeeper keeper_;
  std::array<Member, members> members_ = {};
  int attempt_ = 0;
};

}  // namespace evenkeel::tests
