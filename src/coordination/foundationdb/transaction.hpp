// SPDX-License-Identifier: Apache-2.0
// Owners of libfdb_c's handles, and its blocking calls with a stop token.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#define FDB_API_VERSION 710
#include <foundationdb/fdb_c.h>

#include <evenkeel/coordination/foundationdb_store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

struct FdbDestroy {
  void operator()(FDBDatabase* database) const { fdb_database_destroy(database); }
  void operator()(FDBTransaction* transaction) const { fdb_transaction_destroy(transaction); }
  void operator()(FDBFuture* future) const { fdb_future_destroy(future); }
};
using FdbDatabase = std::unique_ptr<FDBDatabase, FdbDestroy>;
using FdbFuture = std::unique_ptr<FDBFuture, FdbDestroy>;

/// An error code of libfdb_c.
class FdbError : public Error {
 public:
  explicit FdbError(fdb_error_t code) : Error(fdb_get_error(code)), code_(code) {}
  fdb_error_t code() const noexcept { return code_; }

 private:
  fdb_error_t code_;
};
void check(fdb_error_t code);

inline const std::uint8_t* bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}
inline int length(std::string_view text) {
  return static_cast<int>(text.size());
}

/// One transaction. A stop cancels it, after which all its operations fail with transaction_cancelled.
/// Thread safety: one thread at a time.
class FdbTransaction {
 public:
  FdbTransaction(FDBDatabase* database, const FoundationDbStoreOptions& options, std::stop_token stop);

  FDBTransaction* get() const { return transaction_.get(); }
  const std::stop_token& stop() const { return stop_; }
  /// Blocks until the future is ready. Throws FdbError.
  FdbFuture wait(FDBFuture* future) const;
  Version read_version() const;
  std::optional<Entry> read(std::string_view key) const;
  ScanPage scan(const KeyRange& range, std::size_t limit) const;

  void put(std::string_view key, std::string_view value) const;
  /// Becomes ready when `key` changes after this transaction's read version; to be called before commit().
  FdbFuture watch(std::string_view key) const;
  void commit() const { wait(fdb_transaction_commit(get())); }
  void add_read_conflict(std::string_view begin, std::string_view end) const;
  /// Adds a write conflict on `key`: other transactions conflict as if it were written.
  void pretend_write(std::string_view key) const;

 private:
  struct Cancel {
    FDBTransaction* transaction;
    void operator()() const noexcept { fdb_transaction_cancel(transaction); }
  };

  const std::unique_ptr<FDBTransaction, FdbDestroy> transaction_;
  const std::stop_token stop_;
  const std::stop_callback<Cancel> cancel_;
};

/// Throws std::invalid_argument for a key of the system outside of \xff\x02.
void check_key(std::string_view key);
/// Returns `range` with an end. Throws std::invalid_argument if it has keys of the system outside of
/// \xff\x02.
KeyRange legal_range(const KeyRange& range);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
