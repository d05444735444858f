/* SPDX-License-Identifier: Apache-2.0
 * What evenkeel's store uses of FoundationDB's C API, declared anew so that the store can be compiled and run
 * where libfdb_c is not. Names, numbers and signatures are those of API version 710; only what the store and
 * its tests call is here. Source: https://apple.github.io/foundationdb/api-c.html */
#pragma once

#include <stdint.h>

#ifndef FDB_API_VERSION
#error FDB_API_VERSION must be defined before this header is included
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int fdb_error_t;
typedef int fdb_bool_t;
typedef struct FDB_future FDBFuture;
typedef struct FDB_database FDBDatabase;
typedef struct FDB_transaction FDBTransaction;

#pragma pack(push, 4)
typedef struct keyvalue {
  const uint8_t* key;
  int key_length;
  const uint8_t* value;
  int value_length;
} FDBKeyValue;
#pragma pack(pop)

typedef enum {
  FDB_TR_OPTION_ACCESS_SYSTEM_KEYS = 301,
  FDB_TR_OPTION_TIMEOUT = 500,
  FDB_TR_OPTION_LOCK_AWARE = 700
} FDBTransactionOption;
typedef enum { FDB_MUTATION_TYPE_SET_VERSIONSTAMPED_VALUE = 15 } FDBMutationType;
typedef enum { FDB_CONFLICT_RANGE_TYPE_READ = 0, FDB_CONFLICT_RANGE_TYPE_WRITE = 1 } FDBConflictRangeType;
typedef enum { FDB_STREAMING_MODE_WANT_ALL = -2 } FDBStreamingMode;
typedef enum { FDB_ERROR_PREDICATE_MAYBE_COMMITTED = 50001 } FDBErrorPredicate;

#define FDB_MUST_USE __attribute__((warn_unused_result))
#define fdb_select_api_version(v) fdb_select_api_version_impl(v, FDB_API_VERSION)

FDB_MUST_USE fdb_error_t fdb_select_api_version_impl(int runtime_version, int header_version);
FDB_MUST_USE fdb_error_t fdb_setup_network(void);
FDB_MUST_USE fdb_error_t fdb_run_network(void);
FDB_MUST_USE fdb_error_t fdb_stop_network(void);

const char* fdb_get_error(fdb_error_t code);
fdb_bool_t fdb_error_predicate(int predicate_test, fdb_error_t code);

void fdb_future_cancel(FDBFuture* f);
void fdb_future_destroy(FDBFuture* f);
FDB_MUST_USE fdb_error_t fdb_future_block_until_ready(FDBFuture* f);
FDB_MUST_USE fdb_error_t fdb_future_get_error(FDBFuture* f);
FDB_MUST_USE fdb_error_t fdb_future_get_int64(FDBFuture* f, int64_t* out);
FDB_MUST_USE fdb_error_t fdb_future_get_value(FDBFuture* f, fdb_bool_t* out_present,
                                              const uint8_t** out_value, int* out_value_length);
FDB_MUST_USE fdb_error_t fdb_future_get_keyvalue_array(FDBFuture* f, const FDBKeyValue** out_kv,
                                                       int* out_count, fdb_bool_t* out_more);

FDB_MUST_USE fdb_error_t fdb_create_database(const char* cluster_file_path, FDBDatabase** out_database);
void fdb_database_destroy(FDBDatabase* d);
FDB_MUST_USE fdb_error_t fdb_database_create_transaction(FDBDatabase* d, FDBTransaction** out_transaction);

void fdb_transaction_destroy(FDBTransaction* tr);
void fdb_transaction_cancel(FDBTransaction* tr);
FDB_MUST_USE fdb_error_t fdb_transaction_set_option(FDBTransaction* tr, FDBTransactionOption option,
                                                    const uint8_t* value, int value_length);
void fdb_transaction_set_read_version(FDBTransaction* tr, int64_t version);
FDB_MUST_USE FDBFuture* fdb_transaction_get_read_version(FDBTransaction* tr);
FDB_MUST_USE FDBFuture* fdb_transaction_get(FDBTransaction* tr, const uint8_t* key_name, int key_name_length,
                                            fdb_bool_t snapshot);
FDB_MUST_USE FDBFuture* fdb_transaction_get_range(FDBTransaction* tr, const uint8_t* begin_key_name,
                                                  int begin_key_name_length, fdb_bool_t begin_or_equal,
                                                  int begin_offset, const uint8_t* end_key_name,
                                                  int end_key_name_length, fdb_bool_t end_or_equal,
                                                  int end_offset, int limit, int target_bytes,
                                                  FDBStreamingMode mode, int iteration, fdb_bool_t snapshot,
                                                  fdb_bool_t reverse);
void fdb_transaction_set(FDBTransaction* tr, const uint8_t* key_name, int key_name_length,
                         const uint8_t* value, int value_length);
void fdb_transaction_atomic_op(FDBTransaction* tr, const uint8_t* key_name, int key_name_length,
                               const uint8_t* param, int param_length, FDBMutationType operation_type);
void fdb_transaction_clear(FDBTransaction* tr, const uint8_t* key_name, int key_name_length);
void fdb_transaction_clear_range(FDBTransaction* tr, const uint8_t* begin_key_name, int begin_key_name_length,
                                 const uint8_t* end_key_name, int end_key_name_length);
FDB_MUST_USE fdb_error_t fdb_transaction_add_conflict_range(FDBTransaction* tr, const uint8_t* begin_key_name,
                                                            int begin_key_name_length,
                                                            const uint8_t* end_key_name,
                                                            int end_key_name_length,
                                                            FDBConflictRangeType type);
FDB_MUST_USE FDBFuture* fdb_transaction_watch(FDBTransaction* tr, const uint8_t* key_name, int key_name_length);
FDB_MUST_USE FDBFuture* fdb_transaction_commit(FDBTransaction* tr);
FDB_MUST_USE fdb_error_t fdb_transaction_get_committed_version(FDBTransaction* tr, int64_t* out_version);

#ifdef __cplusplus
}
#endif
