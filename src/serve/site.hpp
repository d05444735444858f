// SPDX-License-Identifier: Apache-2.0
// One address of a server, with its certificate, token and routes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <evenkeel/base/log.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/serve/server.hpp>

#include "serve/byte_stream.hpp"
#include "serve/file_watch.hpp"
#include "serve/routes.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Thread safety: route() may be called concurrently with all other members, which are for one thread at a
/// time.
class Site {
 public:
  /// Throws std::invalid_argument for invalid options.
  Site(SiteOptions options, Log log);

  const HostPort& address() const { return address_; }
  bool tls() const { return !options_.tls.certificate.empty(); }

  void route(std::string path, Routes::Entry entry) EVENKEEL_EXCLUDES(mutex_);
  /// Reads the files. Throws Error with the name of the invalid one.
  void load();
  /// Returns the stream of a new connection, with the current certificate.
  std::unique_ptr<ByteStream> open(Tcp::socket socket);
  /// Finds the route, checks access and calls the handler. Never throws.
  Response answer(const Request& request, bool peer_is_loopback) EVENKEEL_EXCLUDES(mutex_);

 private:
  void refresh_certificate();
  const std::string& token();
  void load_token();
  void load_certificate();

  const SiteOptions options_;
  const HostPort address_;
  const Log log_;
  FileWatch certificate_files_;
  FileWatch token_files_;
  std::shared_ptr<boost::asio::ssl::context> context_;  // kept alive by the connections opened with it
  std::string token_;
  std::map<std::string, std::string> problems_;  // last errors of handlers, by path of the route
  Mutex mutex_;
  Routes routes_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
