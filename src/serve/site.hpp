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

/// Thread safety: route(), set_certificate() and answer() may be called concurrently with all other members,
/// which are for one thread at a time.
class Site {
 public:
  /// Throws std::invalid_argument for invalid options.
  Site(SiteOptions options, Log log);

  const HostPort& address() const { return address_; }
  bool tls() const { return has_files() || !options_.tls_pair.certificate.empty(); }
  /// Throws Error if the pair cannot be used.
  void set_certificate(const TlsPair& pair) EVENKEEL_EXCLUDES(mutex_);

  void route(std::string path, Routes::Entry entry) EVENKEEL_EXCLUDES(mutex_);
  /// Reads the files. Throws Error with the name of the invalid one.
  void load();
  /// Returns the stream of a new connection, with the current certificate.
  std::unique_ptr<ByteStream> open(Tcp::socket socket);
  /// Finds the route, checks access and calls the handler. Never throws.
  Response answer(const Request& request, bool peer_is_loopback) EVENKEEL_EXCLUDES(mutex_);

 private:
  using Context = std::shared_ptr<boost::asio::ssl::context>;

  bool has_files() const { return !options_.tls.certificate.empty(); }
  void refresh_certificate();
  std::string token() EVENKEEL_EXCLUDES(token_mutex_);
  void load_token() EVENKEEL_REQUIRES(token_mutex_);
  void load_certificate() EVENKEEL_EXCLUDES(mutex_);
  void note_answered(const std::string& path) EVENKEEL_EXCLUDES(mutex_);
  void note_problem(const std::string& path, const std::string& asked, const std::string& problem)
      EVENKEEL_EXCLUDES(mutex_);

  const SiteOptions options_;
  const HostPort address_;
  const Log log_;
  FileWatch certificate_files_;
  Mutex token_mutex_;
  FileWatch token_files_ EVENKEEL_GUARDED_BY(token_mutex_);
  std::string token_ EVENKEEL_GUARDED_BY(token_mutex_);
  Mutex mutex_;
  Context context_ EVENKEEL_GUARDED_BY(mutex_);  // kept alive by the connections opened with it
  // Last errors of handlers, by path of the route.
  std::map<std::string, std::string> problems_ EVENKEEL_GUARDED_BY(mutex_);
  Routes routes_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
