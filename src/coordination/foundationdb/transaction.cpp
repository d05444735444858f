// SPDX-License-Identifier: Apache-2.0
#include "coordination/foundationdb/transaction.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

constexpr std::size_t stamp_bytes = 10;

FDBTransaction* new_transaction(FDBDatabase* database) {
  FDBTransaction* made = nullptr;
  check(fdb_database_create_transaction(database, &made));
  return made;
}

/// A value as stored in the database: the versionstamp, whose first eight bytes are the version, followed by
/// the value.
Entry entry_of(std::string key, std::string_view stored) {
  if (stored.size() < stamp_bytes) {
    throw StoreUnavailable("the value of a key was not written by this store: " + key);
  }
  Version version = 0;
  for (std::size_t i = 0; i < sizeof(Version); ++i) {
    version = (version << 8U) | static_cast<unsigned char>(stored[i]);
  }
  return {std::move(key), std::string(stored.substr(stamp_bytes)), version};
}

std::string_view text(const std::uint8_t* data, int count) {
  return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(count)};
}

}  // namespace

void check(fdb_error_t code) {
  if (code != 0) throw FdbError(code);
}

namespace {

constexpr std::string_view end_of_user_keys = "\xff";
constexpr std::string_view begin_of_layers = "\xff\x02";
constexpr std::string_view end_of_layers = "\xff\x03";

[[noreturn]] void refuse_system_key() {
  throw std::invalid_argument("FoundationDbStore: a key of the system outside of \\xff\\x02");
}

}  // namespace

void check_key(std::string_view key) {
  if (key >= end_of_user_keys && !key.starts_with(begin_of_layers)) refuse_system_key();
}

KeyRange legal_range(const KeyRange& range) {
  const bool layers = range.begin.starts_with(begin_of_layers);
  if (!layers && range.begin > end_of_user_keys) refuse_system_key();
  const std::string_view last = layers ? end_of_layers : end_of_user_keys;
  if (!range.end.empty() && range.end > last) refuse_system_key();
  return {range.begin, range.end.empty() ? std::string(last) : range.end};
}

FdbTransaction::FdbTransaction(FDBDatabase* database, const FoundationDbStoreOptions& options,
                               std::stop_token stop)
    : transaction_(new_transaction(database)),
      stop_(std::move(stop)),
      cancel_(stop_, Cancel{transaction_.get()}) {
  const std::int64_t timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count();
  std::array<std::uint8_t, sizeof(timeout)> little_endian{};
  for (std::size_t i = 0; i < little_endian.size(); ++i) {
    little_endian[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(timeout) >> (8U * i));
  }
  check(fdb_transaction_set_option(get(), FDB_TR_OPTION_TIMEOUT, little_endian.data(), sizeof(timeout)));
  // Which of them may be used, check_key() and legal_range() say.
  check(fdb_transaction_set_option(get(), FDB_TR_OPTION_ACCESS_SYSTEM_KEYS, nullptr, 0));
  if (options.lock_aware) check(fdb_transaction_set_option(get(), FDB_TR_OPTION_LOCK_AWARE, nullptr, 0));
}

FdbFuture FdbTransaction::wait(FDBFuture* future) const {
  FdbFuture owned(future);
  check(fdb_future_block_until_ready(owned.get()));
  check(fdb_future_get_error(owned.get()));
  return owned;
}

Version FdbTransaction::read_version() const {
  const FdbFuture future = wait(fdb_transaction_get_read_version(get()));
  std::int64_t version = 0;
  check(fdb_future_get_int64(future.get(), &version));
  return static_cast<Version>(version);
}

std::optional<Entry> FdbTransaction::read(std::string_view key) const {
  const FdbFuture future = wait(fdb_transaction_get(get(), bytes(key), length(key), 0));
  fdb_bool_t present = 0;
  const std::uint8_t* value = nullptr;
  int bytes_read = 0;
  check(fdb_future_get_value(future.get(), &present, &value, &bytes_read));
  if (present == 0) return std::nullopt;
  return entry_of(std::string(key), text(value, bytes_read));
}

ScanPage FdbTransaction::scan(const KeyRange& range, std::size_t limit) const {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  // Selectors of the first key at or after begin, and of the first key at or after end.
  const FdbFuture future = wait(fdb_transaction_get_range(
      get(), bytes(range.begin), length(range.begin), 0, 1, bytes(range.end), length(range.end), 0, 1,
      static_cast<int>(std::min(limit, most)), 0, FDB_STREAMING_MODE_WANT_ALL, 1, 0, 0));
  const FDBKeyValue* entries = nullptr;
  int count = 0;
  fdb_bool_t more = 0;
  check(fdb_future_get_keyvalue_array(future.get(), &entries, &count, &more));
  ScanPage page;
  for (int i = 0; i < count; ++i) {
    const FDBKeyValue& one = entries[i];
    page.entries.push_back(
        entry_of(std::string(text(one.key, one.key_length)), text(one.value, one.value_length)));
  }
  if (more != 0 && count > 0) page.next = page.entries.back().key + '\0';
  return page;
}

void FdbTransaction::put(std::string_view key, std::string_view value) const {
  // A placeholder for the stamp, the value, and the offset of the stamp in four bytes.
  std::string stamped(stamp_bytes, '\0');
  stamped += value;
  stamped.append(4, '\0');
  fdb_transaction_atomic_op(get(), bytes(key), length(key), bytes(stamped), length(stamped),
                            FDB_MUTATION_TYPE_SET_VERSIONSTAMPED_VALUE);
}

FdbFuture FdbTransaction::watch(std::string_view key) const {
  return FdbFuture(fdb_transaction_watch(get(), bytes(key), length(key)));
}

void FdbTransaction::add_read_conflict(std::string_view begin, std::string_view end) const {
  check(fdb_transaction_add_conflict_range(get(), bytes(begin), length(begin), bytes(end), length(end),
                                           FDB_CONFLICT_RANGE_TYPE_READ));
}

void FdbTransaction::pretend_write(std::string_view key) const {
  const std::string end = std::string(key) + '\0';
  check(fdb_transaction_add_conflict_range(get(), bytes(key), length(key), bytes(end), length(end),
                                           FDB_CONFLICT_RANGE_TYPE_WRITE));
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
