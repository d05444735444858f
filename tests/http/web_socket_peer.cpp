// SPDX-License-Identifier: Apache-2.0
#include "web_socket_peer.hpp"

#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/sha.h>

namespace evenkeel::tests {
namespace {

std::string accept_key(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  unsigned char encoded[64];
  const int size = EVP_EncodeBlock(encoded, digest, sizeof digest);
  return {reinterpret_cast<char*>(encoded), static_cast<std::size_t>(size)};
}

std::size_t number(std::string_view big_endian) {
  std::size_t value = 0;
  for (const char byte : big_endian) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::string big_endian(std::size_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

}  // namespace

std::string WebSocketPeer::acceptance(const http::Request& request, const std::string& protocol) {
  const std::string* const key = request.headers.find("Sec-WebSocket-Key");
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
         "Upgrade\r\nSec-WebSocket-Accept: " +
         accept_key(key == nullptr ? "" : *key) + "\r\n" +
         (protocol.empty() ? "" : "Sec-WebSocket-Protocol: " + protocol + "\r\n") + "\r\n";
}

std::optional<http::Request> WebSocketPeer::accept(const std::string& protocol) {
  auto request = connection_.read_request();
  if (request) connection_.write(acceptance(*request, protocol));
  return request;
}

std::string WebSocketPeer::frame(std::string_view payload, int opcode, bool fin) {
  std::string bytes(1, static_cast<char>(opcode | (fin ? 0x80 : 0)));
  if (payload.size() < 126) {
    bytes += static_cast<char>(payload.size());
  } else if (payload.size() < 65536) {
    bytes += static_cast<char>(126) + big_endian(payload.size(), 2);
  } else {
    bytes += static_cast<char>(127) + big_endian(payload.size(), 8);
  }
  return bytes.append(payload);
}

bool WebSocketPeer::close(int code, std::string_view reason) {
  return connection_.write(
      frame(big_endian(static_cast<std::size_t>(code), 2) + std::string(reason), closing));
}

std::optional<Frame> WebSocketPeer::read() {
  const auto head = connection_.read_exactly(2);
  if (!head) return std::nullopt;
  const auto first = static_cast<unsigned char>((*head)[0]);
  const auto second = static_cast<unsigned char>((*head)[1]);
  if ((second & 0x80) == 0) throw std::runtime_error("the client's frame is not masked");
  std::size_t size = second & 0x7f;
  if (size >= 126) {
    const auto longer = connection_.read_exactly(size == 126 ? 2 : 8);
    if (!longer) return std::nullopt;
    size = number(*longer);
  }
  const auto mask = connection_.read_exactly(4);
  auto payload = mask ? connection_.read_exactly(size) : std::nullopt;
  if (!payload) return std::nullopt;
  for (std::size_t i = 0; i < payload->size(); ++i)
    (*payload)[i] = static_cast<char>((*payload)[i] ^ (*mask)[i % 4]);
  return Frame{.opcode = first & 0x0f, .fin = (first & 0x80) != 0, .payload = std::move(*payload)};
}

std::optional<std::string> WebSocketPeer::read_message() {
  while (auto frame = read()) {
    if (frame->opcode == closing) return std::nullopt;
    if (!frame->fin || frame->opcode == 0) throw std::runtime_error("the client's message is fragmented");
    if (frame->opcode == binary) return std::move(frame->payload);
  }
  return std::nullopt;
}

}  // namespace evenkeel::tests
