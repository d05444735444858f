// SPDX-License-Identifier: Apache-2.0
#include "http/tls_files.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "http/deadline_clock.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

/// Returns the data if there is any, else the contents of the file. Throws std::runtime_error if the file
/// cannot be read.
std::string data_or_file(const std::string& data, const std::string& path, const char* what) {
  if (!data.empty() || path.empty()) return data;
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && !file.eof()) throw std::runtime_error(std::string("cannot read ") + what + " " + path);
  if (content.empty()) throw std::runtime_error(std::string(what) + " " + path + " is missing or empty");
  return content;
}

}  // namespace

std::shared_ptr<const TlsMaterial> TlsFiles::read() const {
  return std::make_shared<const TlsMaterial>(TlsMaterial{
      .ca = options_.insecure ? std::string() : data_or_file(options_.ca_data, options_.ca_file, "CA file"),
      .cert = data_or_file(options_.cert_data, options_.cert_file, "client certificate"),
      .key = data_or_file(options_.key_data, options_.key_file, "client key")});
}

std::shared_ptr<const TlsMaterial> TlsFiles::get() {
  const TimePoint at = now();
  MutexLock lock(mutex_);
  if (last_ && at - read_at_ < reload_) return last_;
  read_at_ = at;
  try {
    last_ = read();
  } catch (const std::exception&) {
    if (!last_) throw;  // during a rotation, keep using the old files
  }
  return last_;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
