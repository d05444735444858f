// SPDX-License-Identifier: Apache-2.0
#include "testing/kubeconfig_writer.hpp"

#include <cstddef>
#include <string_view>

namespace evenkeel::inline v0::testing {
namespace {

// A scalar in double quotes: JSON's escapes are YAML's.
std::string quoted(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (byte < 0x20) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

}  // namespace

std::string base64(const std::string& bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned group = 0;
    for (std::size_t offset = 0; offset < 3; ++offset)
      group = group << 8 | (at + offset < bytes.size() ? static_cast<unsigned char>(bytes[at + offset]) : 0u);
    out += letters[group >> 18];
    out += letters[group >> 12 & 63];
    out += at + 1 < bytes.size() ? letters[group >> 6 & 63] : '=';
    out += at + 2 < bytes.size() ? letters[group & 63] : '=';
  }
  return out;
}

std::string write_kubeconfig(const KubeconfigParts& parts) {
  std::string text = "apiVersion: v1\nkind: Config\nclusters:\n- name: evenkeel\n  cluster:\n    server: " +
                     quoted(parts.server) + "\n";
  if (!parts.certificate_authority.empty())
    text += "    certificate-authority-data: " + base64(parts.certificate_authority) + "\n";
  text += "users:\n- name: evenkeel\n  user:";
  std::string user;
  if (!parts.token.empty()) user += "    token: " + quoted(parts.token) + "\n";
  if (!parts.client_certificate.empty()) {
    user += "    client-certificate-data: " + base64(parts.client_certificate) + "\n";
    user += "    client-key-data: " + base64(parts.client_key) + "\n";
  }
  text += user.empty() ? " {}\n" : "\n" + user;
  return text +
         "contexts:\n- name: evenkeel\n  context:\n    cluster: evenkeel\n    user: evenkeel\n"
         "    namespace: default\ncurrent-context: evenkeel\n";
}

}  // namespace evenkeel::inline v0::testing
