// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/kubeconfig_writer.hpp"

#include <cstddef>
#include <string_view>

#include <evenkeel/api/bytes.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

// Returns a scalar in double quotes: JSON's escapes are valid in YAML.
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

std::string write_kubeconfig(const KubeconfigParts& parts) {
  std::string text = "apiVersion: v1\nkind: Config\nclusters:\n- name: evenkeel\n  cluster:\n    server: " +
                     quoted(parts.server) + "\n";
  if (!parts.certificate_authority.empty())
    text += "    certificate-authority-data: " + Bytes(parts.certificate_authority).base64() + "\n";
  text += "users:\n- name: evenkeel\n  user:";
  std::string user;
  if (!parts.token.empty()) user += "    token: " + quoted(parts.token) + "\n";
  if (!parts.client_certificate.empty()) {
    user += "    client-certificate-data: " + Bytes(parts.client_certificate).base64() + "\n";
    user += "    client-key-data: " + Bytes(parts.client_key).base64() + "\n";
  }
  text += user.empty() ? " {}\n" : "\n" + user;
  return text +
         "contexts:\n- name: evenkeel\n  context:\n    cluster: evenkeel\n    user: evenkeel\n"
         "    namespace: default\ncurrent-context: evenkeel\n";
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
