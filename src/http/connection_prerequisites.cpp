// SPDX-License-Identifier: Apache-2.0
#include "http/connection_prerequisites.hpp"

#include <arpa/inet.h>
#include <array>
#include <utility>

#include "http/deadline_clock.hpp"
#include "http/url_part.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr Duration address_life = std::chrono::seconds{60};  // as libcurl keeps them
constexpr Duration pause_after_failure =
    std::chrono::seconds{1};  // of a lookup, if there are older addresses

/// Returns true if libcurl finds the addresses of `host` without a lookup.
bool needs_no_lookup(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return host.empty() || host.starts_with('[') || host == "localhost" || host.ends_with(".localhost") ||
         inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

/// Returns host and port of a proxy, which libcurl connects to instead of the server.
std::pair<std::string, std::string> proxy_address(const std::string& proxy) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(), curl_url_cleanup);
  if (curl_url_set(url.get(), CURLUPART_URL, proxy.c_str(), CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) !=
      CURLUE_OK)
    return {};
  const std::string port = url_part(url.get(), CURLUPART_PORT);
  const bool tls = url_part(url.get(), CURLUPART_SCHEME) == "https";
  return {url_part(url.get(), CURLUPART_HOST), port.empty() ? tls ? "443" : "1080" : port};
}

}  // namespace

ConnectionPrerequisites::ConnectionPrerequisites(std::shared_ptr<evenkeel::detail::EventLoopState> loop,
                                                 const Endpoint& endpoint,
                                                 const CurlTransportOptions& options,
                                                 std::shared_ptr<TlsFiles> tls, std::function<void()> changed)
    : loop_(std::move(loop)),
      tls_(endpoint.tls ? std::move(tls) : nullptr),
      changed_(std::move(changed)),
      host_(endpoint.host),
      port_(endpoint.port) {
  if (options.proxy && !options.proxy->empty()) std::tie(host_, port_) = proxy_address(*options.proxy);
  if (needs_no_lookup(host_)) host_.clear();
}

// Both are asked for, so that they are got at the same time.
bool ConnectionPrerequisites::is_done(TimePoint at) {
  const bool files = has_files();
  return has_addresses(at) && files;
}

bool ConnectionPrerequisites::has_addresses(TimePoint at) {
  if (host_.empty() || at < fresh_until_) return true;
  if (std::exchange(resolving_, true)) return false;
  loop_->resolve(host_, [self = weak_from_this()](Outcome<std::vector<std::string>> found) {
    if (const auto prerequisites = self.lock()) prerequisites->on_resolved(std::move(found));
  });
  return false;
}

void ConnectionPrerequisites::on_resolved(Outcome<std::vector<std::string>> found) {
  resolving_ = false;
  std::string problem = "it has no address";
  std::string addresses;
  try {
    for (const std::string& address : found.value()) {
      const bool v6 = address.find(':') != std::string::npos && !address.starts_with('[');
      addresses += addresses.empty() ? host_ + ":" + port_ + ":" : ",";
      addresses += v6 ? "[" + address + "]" : address;
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!addresses.empty()) {
    addresses_ = std::move(addresses);
    fresh_until_ = deadline_after(now(), address_life);
  } else if (addresses_.empty()) {
    failure_ = {TransportErrorCode::resolve, "Could not resolve host: " + host_ + ": " + problem};
  } else {
    fresh_until_ = deadline_after(now(), pause_after_failure);  // the old ones, or open connections, may do
  }
  changed_();
}

bool ConnectionPrerequisites::has_files() {
  if (!tls_) return true;
  const TlsFiles::Freshness freshness = tls_->freshness();
  if (freshness != TlsFiles::Freshness::fresh) read_files();
  return freshness != TlsFiles::Freshness::missing;
}

void ConnectionPrerequisites::read_files() {
  if (std::exchange(reading_, true)) return;
  const auto problem = std::make_shared<std::string>();
  const auto read = [tls = tls_, problem] {
    try {
      tls->get();
    } catch (const std::exception& error) {
      *problem = error.what();
    }
  };
  loop_->offload(read, [weak = weak_from_this(), problem] {
    const auto self = weak.lock();
    if (!self) return;
    self->reading_ = false;
    if (!problem->empty()) self->failure_ = {TransportErrorCode::tls, *problem};
    self->changed_();
  });
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
