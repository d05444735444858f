// SPDX-License-Identifier: Apache-2.0
// One address of a server, with its certificate, token and routes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

/// Peer of a connection, as far as access depends on it.
enum class Peer : std::uint8_t {
  remote,
  loopback,
  reviewed,  ///< The access review has accepted the request.
};

/// Thread safety: route(), set_certificate(), question(), review() and answer() may be called concurrently
/// with all other members, which are for one thread at a time.
class Site {
 public:
  /// Throws std::invalid_argument for invalid options.
  Site(SiteOptions options, Log log);

  const HostPort& address() const { return address_; }
  bool tls() const { return has_files() || !options_.tls_pair.certificate.empty(); }
  /// Throws Error if the pair cannot be used.
  void set_certificate(const TlsPair& pair) EVENKEEL_EXCLUDES(mutex_);

  void route(std::string path, Routes::Entry entry) EVENKEEL_EXCLUDES(mutex_);
  /// Reads the files, or uses the pair of the options unless set_certificate() was called. Throws Error with
  /// the name of the invalid file.
  void load();
  /// Returns the stream of a new connection, with the current certificate.
  std::unique_ptr<ByteStream> open(Tcp::socket socket);
  /// Returns the question that the access review has to decide before answer(); nullopt if it has none to.
  std::optional<AccessQuestion> question(const Request& request) EVENKEEL_EXCLUDES(mutex_);
  void review(const AccessQuestion& question, AccessDecided decided) const {
    options_.access_review(question, std::move(decided));
  }
  /// Returns true if the route of the request is a reserved one.
  bool is_reserved(const Request& request) EVENKEEL_EXCLUDES(mutex_);
  /// Calls RouteOptions::on_overload of the route of the request, if there is one.
  void note_overload(const Request& request) EVENKEEL_EXCLUDES(mutex_);
  /// Finds the route, checks access and calls the handler. Never throws.
  Response answer(const Request& request, Peer peer) EVENKEEL_EXCLUDES(mutex_);

 private:
  using Context = std::shared_ptr<boost::asio::ssl::context>;
  struct Matched {
    Routes::Entry entry = {};
    std::string rest = {};
  };

  bool has_files() const { return !options_.tls.certificate.empty(); }
  bool has_certificate() EVENKEEL_EXCLUDES(mutex_);
  std::optional<Matched> match(const std::string& path) EVENKEEL_EXCLUDES(mutex_);
  std::optional<Response> refusal_of(const RouteOptions& options, const Request& request, Peer peer);
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
