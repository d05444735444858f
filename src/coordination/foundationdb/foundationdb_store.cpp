// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "coordination/foundationdb/transaction.hpp"
#include "coordination/foundationdb/url.hpp"
#include "coordination/foundationdb/watch.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using detail::check;
using detail::FdbDatabase;
using detail::FdbError;
using detail::FdbTransaction;

// Codes of libfdb_c that do not just mean "unavailable".
constexpr fdb_error_t transaction_too_old = 1007;
constexpr fdb_error_t future_version = 1009;
constexpr fdb_error_t not_committed = 1020;
constexpr fdb_error_t transaction_cancelled = 1025;
constexpr fdb_error_t transaction_timed_out = 1031;
constexpr fdb_error_t version_invalid = 2011;
constexpr fdb_error_t transaction_too_large = 2101;

/// Runs a blocking read, and converts its errors to those of snapshots.
template <class Read>
auto reading(const std::stop_token& stop, Read read) {
  try {
    return read();
  } catch (const FdbError& error) {
    if (stop.stop_requested()) throw Cancelled("stopped");
    if (error.code() == transaction_too_old) throw SnapshotExpired(error.what());
    throw StoreUnavailable(error.what());
  }
}

FdbDatabase open_database(const FoundationDbStoreOptions& options) {
  FDBDatabase* database = nullptr;
  // libfdb_c reads the file later, and reports a missing one with the first request.
  if (!options.cluster_file.empty() && !std::ifstream(options.cluster_file)) {
    throw StoreUnavailable("FoundationDB: cannot read the cluster file " + options.cluster_file);
  }
  const char* file = options.cluster_file.empty() ? nullptr : options.cluster_file.c_str();
  const fdb_error_t code = fdb_create_database(file, &database);
  if (code != 0) throw StoreUnavailable(std::string("FoundationDB: ") + fdb_get_error(code));
  return FdbDatabase(database);
}

class Snapshot final : public StoreSnapshot {
 public:
  Snapshot(FDBDatabase* database, const FoundationDbStoreOptions& options, std::stop_token stop)
      : transaction_(database, options, std::move(stop)) {
    version_ = reading(transaction_.stop(), [this] { return transaction_.read_version(); });
  }

  Version version() const override { return version_; }
  std::optional<Entry> get(std::string_view key) override {
    detail::check_key(key);
    return reading(transaction_.stop(), [&] { return transaction_.read(key); });
  }
  ScanPage scan(const KeyRange& range, std::size_t limit) override {
    const KeyRange known = detail::legal_range(range);
    if (known.begin >= known.end) return {};
    return reading(transaction_.stop(), [&] { return transaction_.scan(known, limit); });
  }

 private:
  const FdbTransaction transaction_;
  Version version_ = 0;
};

}  // namespace

class FoundationDbNetwork::State {
 public:
  State() {
    start(fdb_select_api_version(FDB_API_VERSION));
    start(fdb_setup_network());
    // If it fails, so does each call that needs the network.
    thread_ = std::thread([] { [[maybe_unused]] const fdb_error_t code = fdb_run_network(); });
  }
  ~State() {
    [[maybe_unused]] const fdb_error_t code = fdb_stop_network();
    thread_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

 private:
  static void start(fdb_error_t code) {
    if (code != 0) throw StoreUnavailable(std::string("FoundationDB's network: ") + fdb_get_error(code));
  }
  std::thread thread_;
};

FoundationDbNetwork::FoundationDbNetwork() : state_(std::make_unique<State>()) {}
FoundationDbNetwork::~FoundationDbNetwork() = default;

StoreScheme FoundationDbNetwork::scheme() const {
  return {.prefix = std::string(detail::fdb_scheme),
          .open = [this](std::string_view url, const StoreUrlOptions& options) {
            return std::make_shared<FoundationDbStore>(*this, detail::fdb_options(url, options));
          }};
}

class FoundationDbStore::Impl {
 public:
  static constexpr std::size_t limit_of_commits = 1'000'000;

  explicit Impl(FoundationDbStoreOptions options)
      : options_(std::move(options)), database_(open_database(options_)) {}

  const FoundationDbStoreOptions& options() const { return options_; }

  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) const {
    if (stop.stop_requested()) throw Cancelled("stopped");
    return reading(stop, [&] { return std::make_unique<Snapshot>(database_.get(), options_, stop); });
  }

  std::unique_ptr<StoreWatch> watch(std::function<void()> hint) const {
    return std::make_unique<detail::FdbWatch>(database_.get(), options_, change_key(), std::move(hint));
  }

  CommitResult commit(const Commit& commit, const std::stop_token& stop) const {
    check_keys(commit);
    bool sent = false;
    try {
      const FdbTransaction transaction(database_.get(), options_, stop);
      if (!commit.read_ranges.empty()) {
        // The database looks for writes after the read version, and there is none after one of the future.
        const FdbTransaction present(database_.get(), options_, stop);
        if (commit.read_version > present.read_version()) return Conflict{first_condition(commit)};
        fdb_transaction_set_read_version(transaction.get(), static_cast<std::int64_t>(commit.read_version));
      }
      if (auto key = conflict(transaction, commit)) return Conflict{*std::move(key)};
      if (!commit.writes() && commit.read_ranges.empty()) return Committed{transaction.read_version()};
      write(transaction, commit);
      sent = true;
      transaction.commit();
      std::int64_t version = 0;
      check(fdb_transaction_get_committed_version(transaction.get(), &version));
      // A transaction that writes nothing has no version.
      if (version < 0) return Committed{commit.read_version};
      return Committed{static_cast<Version>(version)};
    } catch (const FdbError& error) {
      return failed(error, commit, sent);
    } catch (const StoreUnavailable& error) {
      return Unavailable{error.what()};
    }
  }

 private:
  std::string change_key() const { return options_.root + "#changes"; }

  static void check_keys(const Commit& commit) {
    for (const Commit::ReadKey& read : commit.reads) detail::check_key(read.key);
    for (const Commit::Put& put : commit.puts) detail::check_key(put.key);
    for (const std::string& key : commit.erases) detail::check_key(key);
    for (const KeyRange& range : commit.read_ranges) detail::legal_range(range);
    for (const KeyRange& range : commit.range_erases) detail::legal_range(range);
  }

  /// Compares the keys that were read, which makes them conditions, and adds the ranges.
  std::optional<std::string> conflict(const FdbTransaction& transaction, const Commit& commit) const {
    for (const Commit::ReadKey& read : commit.reads) {
      const auto now = transaction.read(read.key);
      if ((now ? now->version : 0) != read.version) return read.key;
    }
    for (const KeyRange& range : commit.read_ranges) {
      const KeyRange known = detail::legal_range(range);
      transaction.add_read_conflict(known.begin, known.end);
    }
    return std::nullopt;
  }

  void write(const FdbTransaction& transaction, const Commit& commit) const {
    using detail::bytes;
    using detail::length;
    for (const KeyRange& range : commit.range_erases) {
      const KeyRange known = detail::legal_range(range);
      fdb_transaction_clear_range(transaction.get(), bytes(known.begin), length(known.begin),
                                  bytes(known.end), length(known.end));
    }
    for (const std::string& key : commit.erases)
      fdb_transaction_clear(transaction.get(), bytes(key), length(key));
    for (const Commit::Put& put : commit.puts) transaction.put(put.key, put.value);
    if (commit.writes() && !options_.root.empty()) transaction.put(change_key(), "");
    // The database does not check the conditions of a transaction without writes.
    if (!commit.writes()) transaction.pretend_write(commit.read_ranges.front().begin);
  }

  static std::string first_condition(const Commit& commit) {
    if (!commit.reads.empty()) return commit.reads.front().key;
    return commit.read_ranges.empty() ? "" : commit.read_ranges.front().begin;
  }

  CommitResult failed(const FdbError& error, const Commit& commit, bool sent) const {
    const fdb_error_t code = error.code();
    const bool stale = code == transaction_too_old || code == future_version || code == version_invalid;
    if (code == not_committed || (stale && !commit.read_ranges.empty()))
      return Conflict{first_condition(commit)};
    if (code == transaction_too_large)
      return TooLarge{"commit_bytes", limit_of_commits, limit_of_commits + 1};
    const bool maybe = fdb_error_predicate(FDB_ERROR_PREDICATE_MAYBE_COMMITTED, code) != 0 ||
                       code == transaction_timed_out || code == transaction_cancelled;
    if (sent && maybe) return Unknown{error.what()};
    return Unavailable{error.what()};
  }

  const FoundationDbStoreOptions options_;
  const FdbDatabase database_;
};

FoundationDbStore::FoundationDbStore(const FoundationDbNetwork&, FoundationDbStoreOptions options) {
  if (options.timeout < std::chrono::milliseconds{1}) {
    throw std::invalid_argument("FoundationDbStore: timeout must be at least 1 ms");
  }
  impl_ = std::make_unique<Impl>(std::move(options));
}

FoundationDbStore::~FoundationDbStore() = default;

std::string FoundationDbStore::name() const {
  const std::string& file = impl_->options().cluster_file;
  return "foundationdb " + (file.empty() ? "default cluster file" : file);
}

Capabilities FoundationDbStore::capabilities() const {
  return {.watch = !impl_->options().root.empty()};
}

Limits FoundationDbStore::limits() const {
  return {.commit_bytes = Impl::limit_of_commits, .key_bytes = 10'000, .value_bytes = 99'000};
}

std::unique_ptr<StoreSnapshot> FoundationDbStore::snapshot(std::stop_token stop) {
  return impl_->snapshot(std::move(stop));
}

CommitResult FoundationDbStore::commit(const Commit& commit, std::stop_token stop) {
  const Commit normal = normalise(commit);
  if (auto broken = broken_limit(limits(), normal)) return *std::move(broken);
  if (stop.stop_requested()) return Unavailable{"stopped"};
  return impl_->commit(normal, stop);
}

std::unique_ptr<StoreWatch> FoundationDbStore::watch(const KeyRange&, std::function<void()> hint) {
  return impl_->options().root.empty() ? nullptr : impl_->watch(std::move(hint));
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
