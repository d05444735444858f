// SPDX-License-Identifier: Apache-2.0
#include "hash.hpp"

#include <array>
#include <stdexcept>

#include <openssl/evp.h>

namespace cache_operator {

std::string hash_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hash;
  for (std::size_t at = 0; at < 8; ++at) {
    hash += digits[digest.at(at) >> 4];
    hash += digits[digest.at(at) & 15];
  }
  return hash;
}

}  // namespace cache_operator
