// SPDX-License-Identifier: Apache-2.0
#include "base/json_scan.hpp"

#include <bit>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t block_size = 64;

/// Bit masks of a block, one bit per byte.
struct Block {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;   // { and [
  std::uint64_t closes = 0;  // } and ]
};

#if defined(__SSE2__)
[[gnu::always_inline]] inline Block classify(const char* at) noexcept {
  Block block;
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * part));
    // '[' and '{' differ in this bit only, and so do ']' and '}'.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const auto mask = [part](__m128i hits) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(hits))) << (16 * part);
    };
    block.quotes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    block.backslashes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    block.opens |= mask(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    block.closes |= mask(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  }
  return block;
}
#else
[[gnu::always_inline]] inline Block classify(const char* at) noexcept {
  Block block;
  for (std::size_t i = 0; i < block_size; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char folded = static_cast<char>(at[i] | 0x20);
    if (at[i] == '"') block.quotes |= bit;
    if (at[i] == '\\') block.backslashes |= bit;
    if (folded == '{') block.opens |= bit;
    if (folded == '}') block.closes |= bit;
  }
  return block;
}
#endif

/// Returns the bytes that follow an unescaped backslash. `carry` is the state of the previous block.
[[gnu::always_inline]] inline std::uint64_t escaped_bytes(std::uint64_t backslashes, bool& carry) noexcept {
  if (backslashes == 0) {
    const std::uint64_t first = carry ? 1 : 0;
    carry = false;
    return first;
  }
  std::uint64_t escaped = carry ? 1 : 0;
  // Runs of backslashes are short and rare: process each unescaped one, which escapes the next byte.
  std::uint64_t rest = backslashes & ~escaped;
  carry = false;
  while (rest != 0) {
    const int at = std::countr_zero(rest);
    rest &= rest - 1;
    if (at == 63) {
      carry = true;
      break;
    }
    const std::uint64_t next = std::uint64_t{1} << (at + 1);
    escaped |= next;
    rest &= ~next;
  }
  return escaped;
}

/// Sets bit i of the result if the number of set bits up to and including i is odd.
[[gnu::always_inline]] inline std::uint64_t prefix_xor(std::uint64_t bits) noexcept {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

template <class Dummy>
[[gnu::always_inline]] inline std::size_t feed_blocks(ContainerScan& scan, const char* data,
                                                      std::size_t size) noexcept {
  std::size_t at = 0;
  std::uint64_t depth = scan.depth_;
  std::uint64_t inside = scan.in_string_ ? ~std::uint64_t{0} : 0;
  bool carry = scan.escaped_;
  for (; size - at >= block_size; at += block_size) {
    const Block block = classify(data + at);
    const std::uint64_t quotes = block.quotes & ~escaped_bytes(block.backslashes, carry);
    const std::uint64_t strings = prefix_xor(quotes) ^ inside;
    inside = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);
    const std::uint64_t opens = block.opens & ~strings;
    const std::uint64_t closes = block.closes & ~strings;
    const auto closed = static_cast<std::uint64_t>(std::popcount(closes));
    if (closed < depth) {  // the value cannot end in this block
      depth += static_cast<std::uint64_t>(std::popcount(opens)) - closed;
      continue;
    }
    for (std::uint64_t rest = opens | closes; rest != 0; rest &= rest - 1) {
      const std::uint64_t bit = rest & (~rest + 1);
      depth += (opens & bit) != 0 ? 1 : ~std::uint64_t{0};
      if (depth != 0) continue;
      scan.done_ = true;
      return at + static_cast<std::size_t>(std::countr_zero(rest)) + 1;
    }
  }
  scan.depth_ = depth;
  scan.in_string_ = inside != 0;
  scan.escaped_ = carry;
  return at;
}

namespace {

using FeedBlocks = std::size_t (*)(ContainerScan&, const char*, std::size_t) noexcept;

std::size_t feed_blocks_any(ContainerScan& scan, const char* data, std::size_t size) noexcept {
  return feed_blocks<void>(scan, data, size);
}

#if defined(__x86_64__)
[[gnu::target("avx2,bmi,bmi2,popcnt")]] std::size_t feed_blocks_avx2(ContainerScan& scan, const char* data,
                                                                     std::size_t size) noexcept {
  return feed_blocks<void>(scan, data, size);
}

FeedBlocks choose() noexcept {
  __builtin_cpu_init();
  const bool fits = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return fits ? feed_blocks_avx2 : feed_blocks_any;
}
#else
FeedBlocks choose() noexcept {
  return feed_blocks_any;
}
#endif

}  // namespace

std::size_t ContainerScan::feed(std::string_view text) noexcept {
  static const FeedBlocks blocks = choose();
  std::size_t eaten = 0;
  if (text.size() >= block_size) {
    eaten = blocks(*this, text.data(), text.size());
    if (done_) return eaten;
  }
  return eaten + feed_bytes(text.data() + eaten, text.size() - eaten);
}

std::size_t ContainerScan::feed_bytes(const char* data, std::size_t size) noexcept {
  for (std::size_t at = 0; at < size; ++at) {
    const char c = data[at];
    // Like in blocks, a backslash escapes a quote or another backslash, even outside strings, where it is
    // invalid.
    // invalid.
    const bool escaped = std::exchange(escaped_, false);
    if (c == '\\') {
      escaped_ = !escaped;
    } else if (c == '"') {
      in_string_ = in_string_ == escaped;
    } else if (in_string_) {
      continue;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      done_ = true;
      return at + 1;
    }
  }
  return size;
}

std::size_t ValueScan::feed(std::string_view text) noexcept {
  if (text.empty() || done_) return 0;
  if (kind_ == Kind::unknown) {
    kind_ = text[0] == '{' || text[0] == '[' ? Kind::container : text[0] == '"' ? Kind::string : Kind::scalar;
  }
  if (kind_ == Kind::string) return feed_string(text);
  if (kind_ == Kind::scalar) return feed_scalar(text);
  const std::size_t eaten = container_.feed(text);
  done_ = container_.done();
  return eaten;
}

std::size_t ValueScan::feed_string(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (escaped_) {
      escaped_ = false;
    } else if (text[at] == '\\') {
      escaped_ = true;
    } else if (text[at] == '"') {
      done_ = opened_;
      opened_ = true;
      if (done_) return at + 1;
    }
  }
  return text.size();
}

std::size_t ValueScan::feed_scalar(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != ',' && c != '}' && c != ']' && !is_json_space(c)) continue;
    done_ = true;
    return at;
  }
  return text.size();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
