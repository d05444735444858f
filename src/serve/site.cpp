// SPDX-License-Identifier: Apache-2.0
#include "serve/site.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

#include <boost/system/system_error.hpp>

#include <evenkeel/base/error.hpp>

#include "base/caught.hpp"
#include "base/files.hpp"
#include "serve/stable_text.hpp"
#include "serve/tls_context.hpp"
#include "serve/wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

std::vector<std::string> without_empty(std::vector<std::string> paths) {
  std::erase(paths, std::string());
  return paths;
}

// A stream that keeps alive the TLS context it was made from.
class OwnedStream final : public ByteStream {
 public:
  OwnedStream(std::shared_ptr<asio::ssl::context> context, Tcp::socket socket)
      : context_(std::move(context)), stream_(make_tls_stream(std::move(socket), *context_)) {}
  void start(Done done) override { stream_->start(std::move(done)); }
  void read_some(asio::mutable_buffer into, Done done) override { stream_->read_some(into, std::move(done)); }
  void write_some(const Pieces& pieces, Done done) override { stream_->write_some(pieces, std::move(done)); }
  X509* peer_certificate() const override { return stream_->peer_certificate(); }
  void shut_down_sending() override { stream_->shut_down_sending(); }
  void close() override { stream_->close(); }
  void reset() override { stream_->reset(); }

 private:
  const std::shared_ptr<asio::ssl::context> context_;
  const std::unique_ptr<ByteStream> stream_;
};

std::string trimmed(std::string text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text.erase(end == std::string::npos ? 0 : end + 1);
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  return text;
}

}  // namespace

Site::Site(SiteOptions options, Log log)
    : options_(std::move(options)),
      address_(parse_address(options_.address)),
      log_(log.with({{"address", options_.address}})),
      certificate_files_(without_empty({options_.tls.certificate, options_.tls.key})),
      token_files_(without_empty({options_.token_file})),
      token_(options_.token) {
  if (options_.tls.certificate.empty() != options_.tls.key.empty()) {
    throw std::invalid_argument("the endpoint at " + options_.address +
                                ": a certificate file needs a key file, and a key file a certificate file");
  }
  if (has_files() && !options_.tls_pair.certificate.empty()) {
    throw std::invalid_argument("Server: give either files with a certificate or the certificate");
  }
  if (!options_.token.empty() && !options_.token_file.empty()) {
    throw std::invalid_argument("Server: give either a token or a file with one");
  }
  if (options_.access_review && !(options_.token.empty() && options_.token_file.empty())) {
    throw std::invalid_argument("Server: give either a token or an access review");
  }
}

void Site::route(std::string path, Routes::Entry entry) {
  MutexLock lock(mutex_);
  routes_.set(std::move(path), std::move(entry));
}

void Site::load() {
  if (has_files()) {
    certificate_files_.changed();
    load_certificate();
  } else if (tls() && !has_certificate()) {  // else a newer one was set
    set_certificate(options_.tls_pair);
  }
  if (!options_.token_file.empty()) {
    MutexLock lock(token_mutex_);
    token_files_.changed();
    load_token();
  }
}

bool Site::has_certificate() {
  MutexLock lock(mutex_);
  return context_ != nullptr;
}

void Site::load_certificate() {
  const std::string certificate = v0::detail::read_file(options_.tls.certificate);
  const std::string key = v0::detail::read_file(options_.tls.key);
  try {
    auto context = std::make_shared<asio::ssl::context>(make_tls_context(certificate, key));
    MutexLock lock(mutex_);
    context_ = std::move(context);
  } catch (const boost::system::system_error& error) {
    throw Error("the certificate of " + options_.tls.certificate + " and the key of " + options_.tls.key +
                " cannot be used: " + error.code().message());
  }
}

void Site::set_certificate(const TlsPair& pair) {
  try {
    auto context = std::make_shared<asio::ssl::context>(make_tls_context(pair.certificate, pair.key));
    MutexLock lock(mutex_);
    context_ = std::move(context);
  } catch (const boost::system::system_error& error) {
    throw Error("the certificate of " + options_.address +
                " and its key cannot be used: " + error.code().message());
  }
}

void Site::load_token() {
  std::string token = trimmed(v0::detail::read_file(options_.token_file));
  if (token.empty()) throw Error(options_.token_file + " holds no token");
  token_ = std::move(token);
}

void Site::refresh_certificate() {
  if (!has_files() || !certificate_files_.changed()) return;
  try {
    load_certificate();
    log_.info("read the certificate again", {{"file", options_.tls.certificate}});
  } catch (const std::exception& error) {
    log_.error("the certificate changed and cannot be used; the old one stays", {{"error", error.what()}});
  }
}

std::string Site::token() {
  MutexLock lock(token_mutex_);
  if (!options_.token_file.empty() && token_files_.changed()) {
    try {
      load_token();
    } catch (const std::exception& error) {
      log_.error("the token changed and cannot be used; the old one stays", {{"error", error.what()}});
    }
  }
  return token_;
}

std::unique_ptr<ByteStream> Site::open(Tcp::socket socket) {
  if (!tls()) return make_plain_stream(std::move(socket));
  refresh_certificate();
  Context context;
  {
    MutexLock lock(mutex_);
    context = context_;
  }
  return std::make_unique<OwnedStream>(std::move(context), std::move(socket));
}

std::optional<Site::Matched> Site::match(const std::string& path) {
  MutexLock lock(mutex_);
  const auto found = routes_.find(path);
  if (!found) return std::nullopt;
  return Matched{*found->entry, std::string(found->rest)};
}

std::optional<AccessQuestion> Site::question(const Request& request) {
  if (!options_.access_review) return std::nullopt;
  const Target target = parse_target(request.target);
  const auto matched = match(target.path);
  if (!matched || matched->entry.options.access == RouteAccess::anyone) return std::nullopt;
  AccessQuestion question{.token = std::string(bearer_token(request.headers)), .path = target.path};
  for (const char letter : method_name(request.method)) {
    question.verb += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return question;
}

bool Site::is_reserved(const Request& request) {
  const auto matched = match(parse_target(request.target).path);
  return matched && matched->entry.options.reserved;
}

void Site::note_overload(const Request& request) {
  const auto matched = match(parse_target(request.target).path);
  if (matched && matched->entry.options.on_overload) matched->entry.options.on_overload();
}

std::optional<Response> Site::refusal_of(const RouteOptions& options, const Request& request, Peer peer) {
  RouteOptions open = options;
  if (peer == Peer::reviewed) open.access = RouteAccess::anyone;
  // A route that was added after question().
  if (options_.access_review && open.access != RouteAccess::anyone) {
    return plain_answer(503, "503 the access was not reviewed; try again\n");
  }
  return refusal(open, request, peer == Peer::loopback, token());
}

Response Site::answer(const Request& request, Peer peer) {
  const Target target = parse_target(request.target);
  const auto matched = match(target.path);
  if (!matched) return plain_answer(404, "404 page not found\n");
  const auto& [entry, rest] = *matched;
  if (auto refused = refusal_of(entry.options, request, peer)) return *std::move(refused);
  const std::string path = target.path.substr(0, target.path.size() - rest.size());
  std::string problem = evenkeel::detail::foreign_exception;
  try {
    Response answer = entry.handler({.request = request, .target = target, .rest = rest});
    note_answered(path);
    return answer;
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
  }
  note_problem(path, target.path, problem);
  return plain_answer(500, "500 " + problem + "\n");
}

void Site::note_answered(const std::string& path) {
  {
    MutexLock lock(mutex_);
    if (problems_.erase(path) == 0) return;
  }
  log_.info("requests are answered again", {{"path", path}});
}

void Site::note_problem(const std::string& path, const std::string& asked, const std::string& problem) {
  const std::string stable = stable_text(problem);
  {
    MutexLock lock(mutex_);
    if (std::exchange(problems_[path], stable) == stable) return;
  }
  log_.error("a request could not be answered", {{"path", asked}, {"error", problem}});
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
