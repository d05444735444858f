// SPDX-License-Identifier: Apache-2.0
// Certificates made on the spot, so that no key lies in the tree and none expires.
#pragma once

#include <memory>
#include <string>

namespace evenkeel::tests {

struct Pem {
  std::string cert;
  std::string key;
};

/// A certificate authority of its own.
class Authority {
 public:
  explicit Authority(const std::string& common_name);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  std::string pem() const;
  /// A server certificate for `names`, in the notation of subjectAltName: "DNS:localhost,IP:127.0.0.1".
  Pem issue_server(const std::string& names) const;
  /// A client certificate for `user`.
  Pem issue_client(const std::string& user) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::tests
