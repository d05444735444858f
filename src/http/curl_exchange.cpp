// SPDX-License-Identifier: Apache-2.0
#include "http/curl_exchange.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>

#include "base/rounded_duration.hpp"
#include "base/shown_url.hpp"
#include "http/connection_user.hpp"
#include "http/curl_loop.hpp"
#include "http/gzip_decoder.hpp"
#include "http/openssl_hooks.hpp"
#include "http/plain_http.hpp"
#include "http/url_part.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

// Largest body that is sent in one TLS record with the head of its request. A record has up to 16 KiB.
constexpr std::size_t one_record = std::size_t{8} << 10;

TransportErrorCode code_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return TransportErrorCode::resolve;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_OPERATION_TIMEDOUT:
      return TransportErrorCode::connect;  // curl limits only the connect phase
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_USE_SSL_FAILED:
      return TransportErrorCode::tls;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR:
      return TransportErrorCode::protocol;
    default:
      return TransportErrorCode::interrupted;
  }
}

/// Returns true if curl's text for a failed TLS handshake says that the peer ended the connection; curl has
/// no code for it.
bool is_broken_handshake(std::string_view reason) {
  for (const std::string_view sign : {"SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset by peer"}) {
    if (reason.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

template <class T>
void set(CURL* easy, CURLoption option, T value) {
  if (curl_easy_setopt(easy, option, value) == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
}

void set_blob(CURL* easy, CURLoption option, const std::string& data) {
  // Not copied: the exchange owns the material for as long as the handle.
  curl_blob blob{.data = const_cast<char*>(data.data()), .len = data.size(), .flags = CURL_BLOB_NOCOPY};
  set(easy, option, &blob);
}

/// Opens a socket that child processes do not inherit.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// Makes unacknowledged data or probes end the connection after `*dead_peer_timeout`, instead of after a
/// quarter of an hour.
int limit_silence(void* dead_peer_timeout, curl_socket_t socket, curlsocktype) {
  const auto limit = *static_cast<const Duration*>(dead_peer_timeout);
  const auto ms = static_cast<unsigned>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count());
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
  return CURL_SOCKOPT_OK;
}

std::string authority_of(std::string_view host, const std::string& port) {
  return std::string(host) + ":" + port;
}

}  // namespace

Endpoint parse_endpoint(const CurlTransportOptions& options) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(), curl_url_cleanup);
  const auto fail = [&](const char* why) {
    throw std::invalid_argument("CurlTransportOptions.server \"" +
                                evenkeel::detail::shown_url(options.server) + "\": " + why);
  };
  if (curl_url_set(url.get(), CURLUPART_URL, options.server.c_str(), 0) != CURLUE_OK) fail("not a URL");
  const std::string scheme = url_part(url.get(), CURLUPART_SCHEME);
  if (scheme != "https" && scheme != "http") fail("must start with https:// or http://");
  if (!url_part(url.get(), CURLUPART_USER).empty()) {
    throw std::invalid_argument("CurlTransportOptions.server: must not carry a user or password");
  }
  if (!url_part(url.get(), CURLUPART_QUERY).empty()) fail("must not carry a query");

  Endpoint endpoint;
  endpoint.tls = scheme == "https";
  const std::string host = url_part(url.get(), CURLUPART_HOST);
  endpoint.loopback = is_loopback(host);
  const bool through_proxy = options.proxy && !options.proxy->empty();
  endpoint.exposed = !endpoint.tls && (!endpoint.loopback || through_proxy);
  std::string port = url_part(url.get(), CURLUPART_PORT);
  std::string path = url_part(url.get(), CURLUPART_PATH);
  while (!path.empty() && path.back() == '/') path.pop_back();
  endpoint.base = scheme + "://" + (port.empty() ? host : authority_of(host, port)) + path;
  endpoint.url = endpoint.base;
  endpoint.host = host;
  endpoint.port = !port.empty() ? port : endpoint.tls ? "443" : "80";
  if (!endpoint.tls || options.tls.server_name.empty() || options.tls.server_name == host) return endpoint;

  // curl takes the name to verify from the URL, so the URL contains it and the connection is redirected.
  endpoint.host_header = "Host: " + (port.empty() ? host : authority_of(host, port));
  if (port.empty()) port = "443";
  endpoint.url = scheme + "://" + authority_of(options.tls.server_name, port) + path;
  endpoint.connect_to = "::" + authority_of(host, port);
  return endpoint;
}

void check_exposure(const Request& request, const Endpoint& endpoint, const CurlTransportOptions& options) {
  if (!endpoint.exposed || options.credentials_in_clear) return;
  if (request.headers.find("Authorization") == nullptr) return;
  throw std::invalid_argument(std::string(method_name(request.method)) + " " + endpoint.base +
                              request.target + ": " +
                              exposed_text(endpoint.base, "header \"Authorization\"") +
                              "; use https, or set CurlTransportOptions.credentials_in_clear");
}

CurlExchange::CurlExchange(std::shared_ptr<CurlLoop> loop, Request request, Completion completion,
                           std::shared_ptr<StreamHandler> handler)
    : loop_(std::move(loop)),
      request_(std::move(request)),
      completion_(std::move(completion)),
      handler_(std::move(handler)),
      is_stream_(handler_ != nullptr) {}

CurlExchange::CurlExchange(std::shared_ptr<CurlLoop> loop, Request request,
                           const std::shared_ptr<ConnectionUser>& user)
    : loop_(std::move(loop)),
      request_(std::move(request)),
      handler_(user),
      user_(user.get()),
      is_stream_(true) {}

CurlExchange::~CurlExchange() {
  if (easy_ != nullptr) curl_easy_cleanup(detach());
}

void CurlExchange::cancel() noexcept {
  if (!cancelled_.exchange(true) && loop_) loop_->post(CurlLoop::Command::cancel, shared_from_this());
}

void CurlExchange::pause() noexcept {
  if (is_stream_) paused_.store(true);
}

void CurlExchange::resume() noexcept {
  if (paused_.exchange(false)) loop_->post(CurlLoop::Command::resume, shared_from_this());
}

void CurlExchange::poke() noexcept {
  loop_->post(CurlLoop::Command::resume, shared_from_this());
}

void CurlExchange::attach(CURL* easy, const Endpoint& endpoint, const CurlTransportOptions& options,
                          std::shared_ptr<const TlsMaterial> tls, const std::string& addresses) {
  easy_ = easy;
  tls_ = std::move(tls);
  max_header_bytes_ = options.max_header_bytes;
  max_body_bytes_ = options.max_body_bytes;
  asks_for_gzip_ = options.compression.value_or(!endpoint.loopback) && !is_stream_ &&
                   request_.headers.find("Accept-Encoding") == nullptr;
  configure_request(endpoint, options);
  configure_body();
  configure_connection(endpoint, options);
  if (endpoint.tls) configure_tls(options);
  if (addresses.empty()) return;
  addresses_ = curl_slist_append(nullptr, addresses.c_str());
  set(easy_, CURLOPT_RESOLVE, addresses_);
}

void CurlExchange::configure_request(const Endpoint& endpoint, const CurlTransportOptions& options) {
  set(easy_, CURLOPT_PRIVATE, static_cast<void*>(this));
  set(easy_, CURLOPT_ERRORBUFFER, error_text_);
  set(easy_, CURLOPT_URL, (endpoint.url + request_.target).c_str());
  set(easy_, CURLOPT_PATH_AS_IS, 1L);
  set(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy_, CURLOPT_HEADERFUNCTION, &CurlExchange::on_header);
  set(easy_, CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(easy_, CURLOPT_WRITEFUNCTION, &CurlExchange::on_body);
  set(easy_, CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (request_.headers.find("User-Agent") == nullptr) {
    set(easy_, CURLOPT_USERAGENT, options.user_agent.c_str());
  }
  for (const auto& [name, value] : request_.headers) {
    // curl's syntax for a header without a value is "Name;"; it would omit one whose value is only blanks.
    const bool blank = value.find_first_not_of(' ') == std::string::npos;
    add_header(blank ? name + ";" : name + ": " + value);
  }
  if (request_.guard || !loop_) {
    set(easy_, CURLOPT_PREREQFUNCTION, &CurlExchange::on_request);
    set(easy_, CURLOPT_PREREQDATA, static_cast<void*>(this));
  }
  if (asks_for_gzip_) add_header("Accept-Encoding: gzip");
  if (!endpoint.host_header.empty()) add_header(endpoint.host_header);
  add_header("Expect:");  // do not wait for 100 Continue
  if (request_.headers.find("Content-Type") == nullptr) add_header("Content-Type:");
  set(easy_, CURLOPT_HTTPHEADER, header_lines_);
}

void CurlExchange::configure_body() {
  if (request_.method == Method::get && request_.body.empty()) {
    set(easy_, CURLOPT_HTTPGET, 1L);
    return;
  }
  if (request_.method == Method::delete_ && request_.body.empty()) {
    set(easy_, CURLOPT_CUSTOMREQUEST, "DELETE");
    return;
  }
  set(easy_, CURLOPT_POST, 1L);
  set(easy_, CURLOPT_CUSTOMREQUEST, std::string(method_name(request_.method)).c_str());
  set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  if (!loop_ && request_.body.size() <= one_record) {
    set(easy_, CURLOPT_POSTFIELDS, request_.body.c_str());  // not copied; sent together with the head
    return;
  }
  // Read by callback, because only then can a second transmission be refused, or the rest of a long one.
  set(easy_, CURLOPT_READFUNCTION, &CurlExchange::on_upload);
  set(easy_, CURLOPT_READDATA, static_cast<void*>(this));
  set(easy_, CURLOPT_SEEKFUNCTION, &CurlExchange::on_rewind);
  set(easy_, CURLOPT_SEEKDATA, static_cast<void*>(this));
}

void CurlExchange::configure_connection(const Endpoint& endpoint, const CurlTransportOptions& options) {
  const auto ms = [](Duration d) {
    return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(d).count());
  };
  const auto seconds = [](Duration d) {
    return std::max(1L, static_cast<long>(std::chrono::duration_cast<std::chrono::seconds>(d).count()));
  };
  set(easy_, CURLOPT_NOSIGNAL, 1L);
  set(easy_, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, ms(options.connect_timeout)));
  set(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy_, CURLOPT_TCP_KEEPIDLE, seconds(options.dead_peer_timeout / 2));
  set(easy_, CURLOPT_TCP_KEEPINTVL, seconds(options.dead_peer_timeout / 6));
  set(easy_, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(easy_, CURLOPT_SOCKOPTFUNCTION, &limit_silence);
  set(easy_, CURLOPT_SOCKOPTDATA, const_cast<Duration*>(&options.dead_peer_timeout));
  // Chosen when the transport was made. libcurl would read the environment for each of them that is not set.
  set(easy_, CURLOPT_PROXY, options.proxy.value_or("").c_str());
  set(easy_, CURLOPT_NOPROXY, "");
  if (!endpoint.connect_to.empty()) {
    connect_to_ = curl_slist_append(nullptr, endpoint.connect_to.c_str());
    set(easy_, CURLOPT_CONNECT_TO, connect_to_);
  }
  if (!loop_) {
    set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  } else if (user_ != nullptr) {
    set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(easy_, CURLOPT_FRESH_CONNECT, 1L);
    set(easy_, CURLOPT_CONNECT_ONLY, 1L);
    set(easy_, CURLOPT_HTTPPROXYTUNNEL, 1L);  // without TLS, too, a proxy has to pass on bytes
  } else if (is_stream_) {
    set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(easy_, CURLOPT_FRESH_CONNECT, 1L);
    set(easy_, CURLOPT_FORBID_REUSE, 1L);
  } else {
    set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(easy_, CURLOPT_PIPEWAIT, endpoint.tls ? 1L : 0L);
  }
}

// libcurl 7.88 treats all connections to a host alike: once one of them speaks HTTP/2, it also sends requests
// over the HTTP/1.1 connection of a running stream, where they are never answered. Connections with different
// TLS options are never mixed, so streams set the maximum TLS version explicitly and requests do not.
void CurlExchange::configure_tls(const CurlTransportOptions& options) {
  constexpr long lowest = CURL_SSLVERSION_TLSv1_2;
  constexpr long highest = CURL_SSLVERSION_MAX_TLSv1_3;
  set(easy_, CURLOPT_SSLVERSION, is_stream_ ? lowest | highest : lowest);
  if (options.tls.insecure) {
    set(easy_, CURLOPT_SSL_VERIFYPEER, 0L);
    set(easy_, CURLOPT_SSL_VERIFYHOST, 0L);
  } else if (is_stream_ && tls_->authorities) {
    tls_->authorities->apply(easy_);
  } else if (!tls_->ca.empty()) {
    set_blob(easy_, CURLOPT_CAINFO_BLOB, tls_->ca);
    // Otherwise curl would trust the system's CA directory in addition to the given one.
    set(easy_, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!tls_->cert.empty()) {
    set_blob(easy_, CURLOPT_SSLCERT_BLOB, tls_->cert);
    set(easy_, CURLOPT_SSLCERTTYPE, "PEM");
  }
  if (!tls_->key.empty()) {
    set_blob(easy_, CURLOPT_SSLKEY_BLOB, tls_->key);
    set(easy_, CURLOPT_SSLKEYTYPE, "PEM");
  }
}

void CurlExchange::add_header(const std::string& line) {
  curl_slist* longer = curl_slist_append(header_lines_, line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  header_lines_ = longer;
}

CURL* CurlExchange::detach() {
  CURL* easy = std::exchange(easy_, nullptr);
  curl_easy_reset(easy);
  curl_slist_free_all(std::exchange(header_lines_, nullptr));
  curl_slist_free_all(std::exchange(connect_to_, nullptr));
  curl_slist_free_all(std::exchange(addresses_, nullptr));
  tls_.reset();
  return easy;
}

CURLcode CurlExchange::unpause() {
  last_activity_ = now();
  return easy_ != nullptr ? curl_easy_pause(easy_, CURLPAUSE_CONT) : CURLE_OK;
}

void CurlExchange::start_clock(TimePoint at, const CurlTransportOptions& options) {
  last_activity_ = at;
  if (is_stream_) {
    deadline_ = request_.deadline.value_or(TimePoint::max());
    idle_ = request_.idle_timeout.value_or(options.idle_timeout);
  } else {
    deadline_ = request_.deadline.value_or(deadline_after(at, options.request_timeout));
  }
}

TimePoint CurlExchange::next_look(TimePoint at) const {
  if (idle_ <= Duration::zero()) return std::min(deadline_, guarded_until());
  // While reading is paused the peer's silence cannot be measured, so the idle time starts over.
  const TimePoint since = paused_.load(std::memory_order_relaxed) ? at : last_activity_;
  return std::min({deadline_, guarded_until(), deadline_after(since, idle_)});
}

TimePoint CurlExchange::guarded_until() const {
  return request_.guard ? request_.guard->valid_until() : TimePoint::max();
}

std::exception_ptr CurlExchange::refusal() const {
  if (!request_.guard) return nullptr;
  try {
    request_.guard->check();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

std::exception_ptr CurlExchange::overdue(TimePoint at, const std::string& base) const {
  const auto timeout = [&](const std::string& reason) {
    return std::make_exception_ptr(TransportError(TransportErrorCode::timeout, describe(base, reason)));
  };
  if (deadline_ <= at) return timeout(is_stream_ ? "deadline exceeded" : "no answer before the deadline");
  if (guarded_until() <= at) {
    // The request is still queued, or its response is late.
    if (auto refused = easy_ == nullptr ? refusal() : nullptr) return refused;
    return timeout("no answer before its guard's time was over");
  }
  const bool reading = !paused_.load(std::memory_order_relaxed);
  if (idle_ > Duration::zero() && reading && deadline_after(last_activity_, idle_) <= at) {
    return timeout("nothing was received for " + evenkeel::detail::format_rounded(idle_));
  }
  return nullptr;
}

std::string CurlExchange::describe(const std::string& base, std::string_view reason) const {
  return std::string(method_name(request_.method)) + " " + base + request_.target + ": " +
         std::string(reason);
}

std::exception_ptr CurlExchange::error_of(CURLcode code, const std::string& base) {
  if (handler_error_) return std::move(handler_error_);
  if (refusal_) return refused(base);
  if (repeat_refused_) {
    return std::make_exception_ptr(TransportError(
        TransportErrorCode::interrupted, describe(base, "the connection broke after the request was sent")));
  }
  if (cancelled()) return std::make_exception_ptr(Cancelled(describe(base, "cancelled")));
  if (code == CURLE_OK && responded_ && gzip_ && !gzip_->complete()) {
    return std::make_exception_ptr(TransportError(
        TransportErrorCode::interrupted, describe(base, "the answer ended within its compressed body")));
  }
  if (code == CURLE_OK && responded_) return nullptr;
  if (code == CURLE_OK) {  // curl accepts a connection that ends within the headers as a complete response
    return std::make_exception_ptr(TransportError(TransportErrorCode::interrupted,
                                                  describe(base, "the connection ended within the headers")));
  }
  const Failure failure = failure_of(code);
  return std::make_exception_ptr(TransportError(failure.code, describe(base, failure.reason)));
}

CurlExchange::Failure CurlExchange::failure_of(CURLcode code) const {
  // libcurl quotes a proxy that it cannot use with user and password.
  const bool has_text =
      error_text_[0] != '\0' && std::string_view(error_text_).find("proxy syntax") == std::string_view::npos;
  Failure failure{.code = code_of(code), .reason = has_text ? error_text_ : curl_easy_strerror(code)};
  if (!limit_.empty()) failure.reason = limit_;
  if (code == CURLE_SSL_CACERT_BADFILE && tls_) failure.reason += " (" + tls_->ca_origin + ")";
  if (code == CURLE_SSL_CERTPROBLEM && tls_) failure.reason += " (" + tls_->cert_origin + ")";
  long os_error = 0;
  if (code == CURLE_COULDNT_CONNECT && curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error) == CURLE_OK &&
      os_error != 0) {
    failure.reason = std::generic_category().message(static_cast<int>(os_error));
  }
  // A reused connection broke, and curl reports the error of its second attempt, which could not connect.
  const bool broke =
      was_sent() && (failure.code == TransportErrorCode::resolve ||
                     failure.code == TransportErrorCode::connect || failure.code == TransportErrorCode::tls);
  if (broke || code == CURLE_SEND_FAIL_REWIND)
    return {TransportErrorCode::interrupted, "the connection broke after the request was sent"};
  if (failure.code == TransportErrorCode::tls && is_broken_handshake(failure.reason))
    return {TransportErrorCode::interrupted, "the connection broke within the TLS handshake"};
  if (code == CURLE_OUT_OF_MEMORY && was_sent() && !responded_)
    return {TransportErrorCode::protocol, "a line of the answer's head is too long, or memory is short"};
  // curl has several codes for what is no chunk, those of a broken connection among them.
  if (failure.reason.find("chunked-encod") != std::string::npos) failure.code = TransportErrorCode::protocol;
  return failure;
}

// Bytes sent in an earlier attempt of curl may have had an effect.
std::exception_ptr CurlExchange::refused(const std::string& base) {
  if (!sent_before_) return std::move(refusal_);
  return std::make_exception_ptr(TransportError(
      TransportErrorCode::interrupted,
      describe(base, "the connection broke after the request was sent, and it may not be sent again")));
}

// Covers all attempts of curl. Its count includes a proxy's CONNECT, which says nothing about the request.
bool CurlExchange::was_sent() const {
  if (uploaded_ > 0) return true;
  long sent = 0;
  long proxy_answer = 0;
  curl_easy_getinfo(easy_, CURLINFO_REQUEST_SIZE, &sent);
  curl_easy_getinfo(easy_, CURLINFO_HTTP_CONNECTCODE, &proxy_answer);
  return sent > 0 && proxy_answer == 0;
}

void CurlExchange::finish(std::exception_ptr error) noexcept {
  if (std::exchange(finished_, true)) return;
  try {
    // Moved out, so that resources held by the callbacks are released as soon as they have run.
    const Completion completion = std::move(completion_);
    const std::shared_ptr<StreamHandler> handler = std::move(handler_);
    if (handler) {
      handler->on_end(std::move(error));
    } else if (error) {
      completion(Outcome<Response>(std::move(error)));
    } else {
      completion(Outcome<Response>(std::move(response_)));
    }
  } catch (...) {
    // Callbacks must not throw; there is no way to report it to one that does.
  }
}

std::size_t CurlExchange::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  const std::size_t bytes = size * count;
  return static_cast<CurlExchange*>(self)->take_header({data, bytes}) ? bytes : 0;
}

bool CurlExchange::take_header(std::string_view line) {
  last_activity_ = now();
  note_progress();
  if (cancelled()) return false;
  header_bytes_ += line.size();
  if (header_bytes_ > max_header_bytes_) {
    limit_ = "the answer's headers exceed " + std::to_string(max_header_bytes_) + " bytes";
    return false;
  }
  if (responded_) return true;  // trailers
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.empty()) return end_of_headers();
  if (line.starts_with("HTTP/")) {
    response_.headers = {};
    return true;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  if (!take_length(line.substr(0, colon), value)) return false;
  response_.headers.add(std::string(line.substr(0, colon)), std::string(value));
  return true;
}

// Stricter than curl, which reads "5x" as 5 and a number beyond its range as no length (RFC 9112, 6.3).
bool CurlExchange::take_length(std::string_view name, std::string_view value) {
  constexpr std::string_view length = "content-length";
  const bool is_length =
      std::equal(name.begin(), name.end(), length.begin(), length.end(),
                 [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  if (!is_length) return true;
  curl_off_t number = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const std::string* const other = response_.headers.find("Content-Length");
  if (error != std::errc() || end != value.data() + value.size() || number < 0) {
    limit_ = "the answer's Content-Length is not a number of bytes";
  } else if (other != nullptr && *other != value) {
    limit_ = "the answer has two values of Content-Length";
  }
  return limit_.empty();
}

bool CurlExchange::end_of_headers() {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return true;  // an interim response; the final one follows
  responded_ = true;
  response_.status = static_cast<int>(status);
  if (!is_stream_) {
    curl_off_t length = -1;
    curl_easy_getinfo(easy_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length > 0) response_.body.reserve(static_cast<std::size_t>(std::min<curl_off_t>(length, 1 << 20)));
    if (is_expanded()) begin_expansion();
    return true;
  }
  free_tls_buffers(easy_);  // a watch may be silent from now on
  try {
    handler_->on_response(response_.status, response_.headers);
  } catch (...) {
    handler_error_ = std::current_exception();
    return false;
  }
  return true;
}

std::size_t CurlExchange::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const std::size_t bytes = size * count;
  exchange.last_activity_ = now();
  exchange.note_progress();
  // pause() sets the flag; data that arrives afterwards stays in curl, and then in the kernel.
  if (exchange.paused_.load() && !exchange.cancelled()) return CURL_WRITEFUNC_PAUSE;
  return exchange.take_body({data, bytes}) ? bytes : 0;
}

bool CurlExchange::take_body(std::string_view piece) {
  if (cancelled()) return false;
  try {
    if (is_stream_) {
      handler_->on_data(piece);
      return true;
    }
    if (gzip_) return expand(piece);
    if (response_.body.size() + piece.size() > max_body_bytes_) {
      limit_ = "the answer exceeds " + std::to_string(max_body_bytes_) + " bytes";
      return false;
    }
    response_.body += piece;
  } catch (...) {
    handler_error_ = std::current_exception();
    return false;
  }
  return true;
}

/// Returns true if the body is compressed as it was asked for.
bool CurlExchange::is_expanded() const {
  const std::string* const encoding = response_.headers.find("Content-Encoding");
  return asks_for_gzip_ && encoding != nullptr && *encoding == "gzip";
}

// The headers that describe the compressed body are not those of the one that the caller gets.
void CurlExchange::begin_expansion() {
  gzip_ = std::make_unique<GzipDecoder>();
  Headers headers;
  for (const auto& [name, value] : std::exchange(response_.headers, {})) {
    const Headers line{{name, value}};
    if (line.find("Content-Encoding") == nullptr && line.find("Content-Length") == nullptr)
      headers.add(name, value);
  }
  response_.headers = std::move(headers);
}

bool CurlExchange::expand(std::string_view piece) {
  const GzipDecoder::Result result = gzip_->decode(piece, response_.body, max_body_bytes_);
  if (result == GzipDecoder::Result::corrupt)
    limit_ = "the answer's compressed body is corrupt: " + std::string(gzip_->problem());
  if (result == GzipDecoder::Result::too_long)
    limit_ = "the answer exceeds " + std::to_string(max_body_bytes_) + " bytes";
  return result == GzipDecoder::Result::ok;
}

// Called when the connection is established, right before the head is sent; again in each attempt of curl.
int CurlExchange::on_request(void* self, char*, char*, int, int) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  exchange.sent_before_ = exchange.was_sent();
  return exchange.may_repeat() && exchange.may_send() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

void CurlExchange::note_progress() {
  if (loop_) loop_->note_progress();
}

// Bodies that are read by callback are refused when curl rewinds them.
bool CurlExchange::may_repeat() {
  repeat_refused_ = sent_before_ && (request_.method == Method::post || request_.method == Method::patch);
  return !repeat_refused_;
}

bool CurlExchange::may_send() {
  refusal_ = refusal();
  return refusal_ == nullptr;
}

std::size_t CurlExchange::on_upload(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  if (!exchange.may_send()) return CURL_READFUNC_ABORT;
  const std::size_t bytes = std::min(size * count, exchange.request_.body.size() - exchange.uploaded_);
  exchange.request_.body.copy(data, bytes, exchange.uploaded_);
  exchange.uploaded_ += bytes;
  if (bytes > 0) exchange.note_progress();
  return bytes;
}

int CurlExchange::on_rewind(void* self, curl_off_t offset, int origin) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const Method method = exchange.request_.method;
  if (method == Method::post || method == Method::patch || origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
  exchange.uploaded_ = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
