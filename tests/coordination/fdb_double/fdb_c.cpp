// SPDX-License-Identifier: Apache-2.0
// The functions of the C API, which pass their arguments to the network's thread.
#define FDB_API_VERSION 710
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <foundationdb/fdb_c.h>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "network.hpp"
#include "transaction.hpp"

using fdb_double::Answer;
using fdb_double::Future;
using fdb_double::FuturePtr;
using fdb_double::Mutation;
using fdb_double::Network;
using fdb_double::Range;
using fdb_double::Transaction;

struct FDB_future {
  FuturePtr future = std::make_shared<Future>();
  std::vector<FDBKeyValue> rows = {};
};

struct FDB_database {
  std::shared_ptr<fdb_double::Cluster> cluster;
};

struct FDB_transaction {
  std::shared_ptr<Transaction> transaction;
};

namespace {

std::string text(const std::uint8_t* bytes, int length) {
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

const std::uint8_t* bytes(const std::string& text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

/// Runs `task` with the transaction, on the network's thread.
template <class Task>
void post(FDBTransaction* tr, Task task) {
  Network::instance().post([transaction = tr->transaction, task = std::move(task)] { task(*transaction); });
}

/// Like the above, for a task that has a result.
template <class Task>
FDBFuture* ask(FDBTransaction* tr, Task task) {
  auto* asked = new FDBFuture();
  post(tr, [future = asked->future, task = std::move(task)](Transaction& transaction) {
    task(transaction, future);
  });
  return asked;
}

/// Runs `read` with the result if there is one and it is not an error.
template <class Read>
fdb_error_t with_answer(FDBFuture* f, Read read) {
  const Answer* answer = f->future->get();
  if (answer == nullptr) return fdb_double::client_invalid_operation;
  if (answer->error == 0) read(*answer);
  return answer->error;
}

void post_mutation(FDBTransaction* tr, Mutation mutation) {
  post(tr, [mutation = std::move(mutation)](Transaction& transaction) { transaction.mutate(mutation); });
}

/// Breaks the transaction off once something has waited for an answer at a multiple of `milliseconds`; 0:
/// never. What the cluster answers never times out, however slow the machine is.
void set_timeout(const std::shared_ptr<Transaction>& timed, std::int64_t milliseconds) {
  if (milliseconds == 0) return;
  const auto when = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  Network::instance().post_at(when, [weak = std::weak_ptr(timed), milliseconds] {
    const auto transaction = weak.lock();
    if (!transaction) return;
    if (transaction->waits()) {
      transaction->break_off(fdb_double::transaction_timed_out);
    } else {
      set_timeout(transaction, milliseconds);
    }
  });
}

}  // namespace

fdb_error_t fdb_select_api_version_impl(int runtime_version, int header_version) {
  return Network::instance().select_api_version(runtime_version, header_version);
}
fdb_error_t fdb_setup_network() {
  return Network::instance().setup();
}
fdb_error_t fdb_run_network() {
  return Network::instance().run();
}
fdb_error_t fdb_stop_network() {
  return Network::instance().stop();
}

// The texts of release 7.3.
const char* fdb_get_error(fdb_error_t code) {
  switch (code) {
    case 0:
      return "Success";
    case fdb_double::transaction_too_old:
      return "Transaction is too old to perform reads or be committed";
    case fdb_double::not_committed:
      return "Transaction not committed due to conflict with another transaction";
    case fdb_double::commit_unknown_result:
      return "Transaction may or may not have committed";
    case fdb_double::transaction_cancelled:
      return "Operation aborted because the transaction was cancelled";
    case fdb_double::transaction_timed_out:
      return "Operation aborted because the transaction timed out";
    case fdb_double::database_locked:
      return "Database is locked";
    case fdb_double::no_cluster_file_found:
      return "No cluster file found in current directory or default location";
    case fdb_double::key_outside_legal_range:
      return "Key outside legal range";
    case fdb_double::connection_string_invalid:
      return "Connection string invalid";
    default:
      return "an error of the double of libfdb_c";
  }
}

fdb_bool_t fdb_error_predicate(int predicate_test, fdb_error_t code) {
  // The only retryable error that the double returns.
  return predicate_test == FDB_ERROR_PREDICATE_MAYBE_COMMITTED && code == fdb_double::commit_unknown_result;
}

void fdb_future_cancel(FDBFuture* f) {
  f->future->fail(fdb_double::operation_cancelled);
}
void fdb_future_destroy(FDBFuture* f) {
  delete f;
}
fdb_error_t fdb_future_block_until_ready(FDBFuture* f) {
  return f->future->wait();
}
fdb_error_t fdb_future_get_error(FDBFuture* f) {
  return with_answer(f, [](const Answer&) {});
}
fdb_error_t fdb_future_get_int64(FDBFuture* f, std::int64_t* out) {
  return with_answer(f, [&](const Answer& answer) { *out = answer.number; });
}
fdb_error_t fdb_future_get_value(FDBFuture* f, fdb_bool_t* out_present, const std::uint8_t** out_value,
                                 int* out_value_length) {
  return with_answer(f, [&](const Answer& answer) {
    *out_present = answer.present ? 1 : 0;
    *out_value = bytes(answer.value);
    *out_value_length = static_cast<int>(answer.value.size());
  });
}
fdb_error_t fdb_future_get_keyvalue_array(FDBFuture* f, const FDBKeyValue** out_kv, int* out_count,
                                          fdb_bool_t* out_more) {
  return with_answer(f, [&](const Answer& answer) {
    f->rows.clear();
    for (const auto& [key, value] : answer.rows) {
      f->rows.push_back(
          {bytes(key), static_cast<int>(key.size()), bytes(value), static_cast<int>(value.size())});
    }
    *out_kv = f->rows.data();
    *out_count = static_cast<int>(f->rows.size());
    *out_more = answer.more ? 1 : 0;
  });
}

fdb_error_t fdb_create_database(const char* cluster_file_path, FDBDatabase** out_database) {
  if (const int problem = Network::instance().api_version_problem()) return problem;
  const char* standard = std::getenv("FDB_CLUSTER_FILE");
  const char* path = cluster_file_path != nullptr ? cluster_file_path : standard;
  if (path == nullptr) return fdb_double::no_cluster_file_found;
  auto cluster = fdb_double::cluster_of(path);
  // The file is read later, by the network's thread.
  const int problem =
      std::ifstream(path) ? fdb_double::connection_string_invalid : fdb_double::no_cluster_file_found;
  if (!cluster) cluster = std::make_shared<fdb_double::Cluster>(true, problem);
  *out_database = new FDBDatabase{std::move(cluster)};
  return 0;
}
void fdb_database_destroy(FDBDatabase* d) {
  delete d;
}
fdb_error_t fdb_database_create_transaction(FDBDatabase* d, FDBTransaction** out_transaction) {
  *out_transaction = new FDBTransaction{std::make_shared<Transaction>(d->cluster)};
  return 0;
}

void fdb_transaction_destroy(FDBTransaction* tr) {
  // Unanswered requests are never answered.
  fdb_transaction_cancel(tr);
  delete tr;
}
void fdb_transaction_cancel(FDBTransaction* tr) {
  post(tr, [](Transaction& transaction) { transaction.break_off(fdb_double::transaction_cancelled); });
}

fdb_error_t fdb_transaction_set_option(FDBTransaction* tr, FDBTransactionOption option,
                                       const std::uint8_t* value, int value_length) {
  switch (option) {
    case FDB_TR_OPTION_ACCESS_SYSTEM_KEYS:
      post(tr, [](Transaction& transaction) { transaction.access_system_keys(); });
      return 0;
    case FDB_TR_OPTION_LOCK_AWARE:
      post(tr, [](Transaction& transaction) { transaction.be_lock_aware(); });
      return 0;
    case FDB_TR_OPTION_TIMEOUT:
      break;
  }
  std::int64_t milliseconds = 0;
  if (value_length != sizeof(milliseconds)) return fdb_double::invalid_option_value;
  for (int i = 0; i < value_length; ++i) milliseconds |= static_cast<std::int64_t>(value[i]) << (8 * i);
  set_timeout(tr->transaction, milliseconds);
  return 0;
}

void fdb_transaction_set_read_version(FDBTransaction* tr, std::int64_t version) {
  post(tr, [version](Transaction& transaction) { transaction.set_read_version(version); });
}
FDBFuture* fdb_transaction_get_read_version(FDBTransaction* tr) {
  return ask(tr,
             [](Transaction& transaction, const FuturePtr& future) { transaction.get_read_version(future); });
}
FDBFuture* fdb_transaction_get(FDBTransaction* tr, const std::uint8_t* key_name, int key_name_length,
                               fdb_bool_t snapshot) {
  return ask(tr, [key = text(key_name, key_name_length), snapshot](Transaction& transaction,
                                                                   const FuturePtr& future) {
    transaction.get(key, snapshot != 0, future);
  });
}
FDBFuture* fdb_transaction_get_range(FDBTransaction* tr, const std::uint8_t* begin_key_name,
                                     int begin_key_name_length, fdb_bool_t begin_or_equal, int begin_offset,
                                     const std::uint8_t* end_key_name, int end_key_name_length,
                                     fdb_bool_t end_or_equal, int end_offset, int limit, int target_bytes,
                                     FDBStreamingMode mode, int, fdb_bool_t snapshot, fdb_bool_t reverse) {
  // Other selectors and modes are not used, and not implemented.
  const bool known = begin_or_equal == 0 && begin_offset == 1 && end_or_equal == 0 && end_offset == 1 &&
                     target_bytes == 0 && mode == FDB_STREAMING_MODE_WANT_ALL && reverse == 0 && limit >= 0;
  const fdb_double::RangeRead read{
      .range = {text(begin_key_name, begin_key_name_length), text(end_key_name, end_key_name_length)},
      .limit = known ? static_cast<std::size_t>(limit) : 0,
      .snapshot = snapshot != 0};
  return ask(tr, [read, known](Transaction& transaction, const FuturePtr& future) {
    if (!known) return future->fail(fdb_double::client_invalid_operation);
    transaction.get_range(read, future);
  });
}

void fdb_transaction_set(FDBTransaction* tr, const std::uint8_t* key_name, int key_name_length,
                         const std::uint8_t* value, int value_length) {
  post_mutation(tr, {.kind = Mutation::Kind::set,
                     .begin = text(key_name, key_name_length),
                     .value = text(value, value_length)});
}
void fdb_transaction_atomic_op(FDBTransaction* tr, const std::uint8_t* key_name, int key_name_length,
                               const std::uint8_t* param, int param_length, FDBMutationType) {
  post_mutation(tr, {.kind = Mutation::Kind::set_stamped,
                     .begin = text(key_name, key_name_length),
                     .value = text(param, param_length)});
}
void fdb_transaction_clear(FDBTransaction* tr, const std::uint8_t* key_name, int key_name_length) {
  const std::string key = text(key_name, key_name_length);
  post_mutation(tr, {.kind = Mutation::Kind::clear, .begin = key, .end = key + '\0'});
}
void fdb_transaction_clear_range(FDBTransaction* tr, const std::uint8_t* begin_key_name,
                                 int begin_key_name_length, const std::uint8_t* end_key_name,
                                 int end_key_name_length) {
  post_mutation(tr, {.kind = Mutation::Kind::clear,
                     .begin = text(begin_key_name, begin_key_name_length),
                     .end = text(end_key_name, end_key_name_length)});
}
fdb_error_t fdb_transaction_add_conflict_range(FDBTransaction* tr, const std::uint8_t* begin_key_name,
                                               int begin_key_name_length, const std::uint8_t* end_key_name,
                                               int end_key_name_length, FDBConflictRangeType type) {
  const Range range{text(begin_key_name, begin_key_name_length), text(end_key_name, end_key_name_length)};
  if (range.begin > range.end) return fdb_double::inverted_range;
  post(tr, [range, type](Transaction& transaction) {
    transaction.add_conflict(range, type == FDB_CONFLICT_RANGE_TYPE_WRITE);
  });
  return 0;
}
FDBFuture* fdb_transaction_watch(FDBTransaction* tr, const std::uint8_t* key_name, int key_name_length) {
  return ask(tr, [key = text(key_name, key_name_length)](Transaction& transaction, const FuturePtr& future) {
    transaction.watch(key, future);
  });
}
FDBFuture* fdb_transaction_commit(FDBTransaction* tr) {
  return ask(tr, [](Transaction& transaction, const FuturePtr& future) { transaction.commit(future); });
}
fdb_error_t fdb_transaction_get_committed_version(FDBTransaction* tr, std::int64_t* out_version) {
  *out_version = tr->transaction->committed_version();
  return 0;
}
