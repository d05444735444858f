// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>

#include <client/files.hpp>

namespace evenkeel::inline v0::detail {
namespace {

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::string& problem) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  std::string content;
  char piece[4096];
  while (file) {
    const std::size_t got = std::fread(piece, 1, sizeof(piece), file.get());
    content.append(piece, got);
    if (got == sizeof(piece)) continue;
    if (std::ferror(file.get()) == 0) return content;
    break;
  }
  problem = std::generic_category().message(errno);
  return std::nullopt;
}

bool is_missing(const std::string& problem) {
  return problem == std::generic_category().message(ENOENT);
}

std::string relative_to(const std::string& path, const std::string& file) {
  if (path.empty() || path.front() == '/') return path;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  std::size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = base64_value(c);
    if (value < 0 || padding > 0) return std::nullopt;
    ++digits;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    if ((held += 6) < 8) continue;
    held -= 8;
    out += static_cast<char>((bits >> held) & 0xff);
  }
  if (padding > 2 || (digits + padding) % 4 != 0) return std::nullopt;
  return out;
}

std::string encode_base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? digits[(group >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return out;
}

}  // namespace evenkeel::inline v0::detail
