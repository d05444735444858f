// SPDX-License-Identifier: Apache-2.0
// Worlds that begin in one state share it. A separate program, because it counts the bytes of every
// allocation.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server_core.hpp>

namespace {
std::atomic<std::int64_t> live_bytes = 0;

void release(void* memory) noexcept {
  if (memory != nullptr) live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
// AddressSanitizer has its own of this one, which does not call the other.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size);
  if (memory != nullptr) live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace evenkeel::apiserver {
namespace {

constexpr int objects = 1000;
constexpr int worlds = 100;
const std::string maps = "/api/v1/namespaces/default/configmaps";

void send(ApiServerCore& core, http::Method method, const std::string& target, std::string body) {
  const char* const type =
      method == http::Method::patch ? "application/merge-patch+json" : "application/json";
  const Answer answer = core.handle(
      {.method = method, .target = target, .headers = {{"Content-Type", type}}, .body = std::move(body)},
      WallTime());
  ASSERT_EQ(answer.response.status / 100, 2) << answer.response.body;
}

std::string object(int number) {
  return R"({"metadata":{"name":"m)" + std::to_string(number) + R"("},"data":{"text":")" +
         std::string(3000, 'x') + R"("}})";
}

}  // namespace

TEST(World, AHundredOfThemTakeLessThanTwiceTheMemoryOfOne) {
  const std::int64_t before = live_bytes;
  ApiServerCore original;
  for (int at = 0; at < objects; ++at) send(original, http::Method::post, maps, object(at));
  const std::int64_t one = live_bytes - before;
  std::vector<std::unique_ptr<ApiServerCore>> made;
  for (int at = 0; at < worlds; ++at)
    made.push_back(std::make_unique<ApiServerCore>(original.snapshot(WallTime())));
  const std::int64_t untouched = live_bytes - before;
  EXPECT_LT(untouched, one + one / 2) << "one: " << one;
  for (int at = 0; at < worlds; ++at)
    send(*made[static_cast<std::size_t>(at)], http::Method::patch, maps + "/m" + std::to_string(at * 7),
         R"({"data":{"more":"y"}})");
  const std::int64_t total = live_bytes - before;
  EXPECT_LT(total, 2 * one) << "one: " << one << ", untouched: " << untouched;
  RecordProperty("one", std::to_string(one));
  RecordProperty("untouched", std::to_string(untouched));
  RecordProperty("total", std::to_string(total));
}

}  // namespace evenkeel::apiserver
