// SPDX-License-Identifier: Apache-2.0
#include "cache/wire_packing.hpp"

#include <cstring>
#include <memory>
#include <new>

#include <evenkeel/base/error.hpp>

#include "cache/wire_block.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

struct FreeExpander {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

ZSTD_DCtx* expander() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeExpander> context(ZSTD_createDCtx());
  if (!context) throw Error("cannot expand a compressed object: out of memory");
  return context.get();
}

char* bytes_of(WireBlock* block) {
  return reinterpret_cast<char*>(block);
}

/// Calls `use` with every text of a block but its JSON.
template <class Use>
void each_text(WireBlock& block, Use use) {
  for (WirePlace* place :
       {&block.api_version, &block.kind, &block.namespace_, &block.name, &block.uid, &block.resource_version})
    use(*place);
  auto* const pairs = const_cast<WirePairPlaces*>(block.pairs());
  for (std::size_t i = 0; i < block.label_count + block.annotation_count; ++i) {
    use(pairs[i].name);
    use(pairs[i].value);
  }
  auto* const owners = const_cast<WireOwnerPlaces*>(block.owners());
  for (std::size_t i = 0; i < block.owner_count; ++i) {
    for (WirePlace* place : {&owners[i].api_version, &owners[i].kind, &owners[i].name, &owners[i].uid})
      use(*place);
  }
}

std::size_t tables_end(const WireBlock& block) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(block.owners() + block.owner_count) -
                                  reinterpret_cast<const char*>(&block));
}

}  // namespace

ObjectDictionary::ObjectDictionary(std::string_view text, int compression_level)
    : compressing_(ZSTD_createCDict(text.data(), text.size(), compression_level)),
      expanding_(ZSTD_createDDict(text.data(), text.size())) {
  if (compressing_ != nullptr && expanding_ != nullptr) return;
  ZSTD_freeCDict(compressing_);
  ZSTD_freeDDict(expanding_);
  throw Error("cannot prepare a dictionary: out of memory");
}

ObjectDictionary::~ObjectDictionary() {
  ZSTD_freeCDict(compressing_);
  ZSTD_freeDDict(expanding_);
}

void release(ObjectDictionary* dictionary) noexcept {
  const Counted<ObjectDictionary> last(dictionary);
}

WireObject WirePacking::compress(const WireObject& whole, std::string_view compressed,
                                 const Counted<ObjectDictionary>& dictionary) {
  WireBlock& from = *whole.block_;
  std::size_t size = tables_end(from);
  each_text(from, [&size](const WirePlace& place) { size += place.size; });
  const std::size_t raw_at = size;
  size += compressed.size();
  auto* const block = new (::operator new(size)) WireBlock;
  static_cast<WireFields&>(*block) = from;
  block->bytes = static_cast<std::uint32_t>(size);
  block->expanded_raw = from.raw.size;
  block->raw = {static_cast<std::uint32_t>(raw_at), static_cast<std::uint32_t>(compressed.size())};
  std::memcpy(static_cast<void*>(block + 1), static_cast<const void*>(&from + 1),
              tables_end(from) - sizeof(WireBlock));
  std::size_t at = tables_end(from);
  each_text(*block, [&](WirePlace& place) {
    std::memcpy(bytes_of(block) + at, from.text(place).data(), place.size);
    place.at = static_cast<std::uint32_t>(at);
    at += place.size;
  });
  std::memcpy(bytes_of(block) + raw_at, compressed.data(), compressed.size());
  block->dictionary = nullptr;
  if (dictionary) {
    dictionary->handles.fetch_add(1, std::memory_order_relaxed);
    block->dictionary = &*dictionary;
  }
  return WireObject(block);
}

WireObject WirePacking::expand(const WireObject& compressed) {
  const WireBlock& from = *compressed.block_;
  ZSTD_DCtx* const context = expander();
  const std::size_t size = from.raw.at + from.expanded_raw;
  auto* const block = new (::operator new(size)) WireBlock;
  WireObject result(block);
  static_cast<WireFields&>(*block) = from;
  block->dictionary = nullptr;
  block->expanded_raw = 0;
  block->bytes = static_cast<std::uint32_t>(size);
  block->raw.size = from.expanded_raw;
  std::memcpy(static_cast<void*>(block + 1), static_cast<const void*>(&from + 1),
              from.raw.at - sizeof(WireBlock));
  const std::string_view packed = from.text(from.raw);
  const std::size_t done = ZSTD_decompress_usingDDict(
      context, bytes_of(block) + block->raw.at, block->raw.size, packed.data(), packed.size(),
      from.dictionary == nullptr ? nullptr : from.dictionary->expanding());
  if (ZSTD_isError(done) != 0 || done != from.expanded_raw)
    throw Error(compressed.what() + ": cannot expand it: " + ZSTD_getErrorName(done));
  return result;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
