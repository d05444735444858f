// SPDX-License-Identifier: Apache-2.0
#include "client/request/write_log.hpp"

#include <algorithm>
#include <utility>

#include <simdjson.h>

#include <evenkeel/api/patch.hpp>

#include "base/simdjson_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

namespace ondemand = simdjson::ondemand;

// Memory of an entry in addition to its texts: the blocks of the containers.
constexpr std::size_t entry_overhead = sizeof(LoggedWrite) + 128;

std::size_t size_of(const LoggedWrite& write) {
  return entry_overhead + 2 * write.uid.size() + write.version.size() + write.base.size() + write.body.size();
}

AnsweredVersion version_in(ondemand::object metadata) {
  AnsweredVersion found;
  for (auto field : metadata) {
    const std::string_view name = field.unescaped_key();
    if (name == "uid") found.uid = string_in(field.value());
    if (name == "resourceVersion") found.version = string_in(field.value());
    if (!found.uid.empty() && !found.version.empty()) break;  // managedFields are long, and come later
  }
  return found;
}

SentForm form_of(const RestRequest& request) {
  if (request.method == http::Method::put) return SentForm::document;
  if (request.content_type == content_type(PatchType::merge)) return SentForm::merge;
  if (request.content_type == content_type(PatchType::strategic)) return SentForm::strategic;
  if (request.content_type == content_type(PatchType::apply)) return SentForm::apply;
  if (request.content_type == content_type(PatchType::json)) return SentForm::json;
  return SentForm::opaque;
}

bool changes_an_object(const RestRequest& request) {
  return (request.method == http::Method::put || request.method == http::Method::patch) &&
         !is_dry_run(request);
}

bool creates_an_object(const RestRequest& request) {
  return request.method == http::Method::post && request.subresource.empty() && !is_dry_run(request);
}

bool removes_an_object(const RestRequest& request) {
  return request.method == http::Method::delete_ && !request.name.empty() && !is_dry_run(request);
}

// Returns the uid of a deleted object: the answer is the object, or a Status with details of it.
std::string removed_uid(std::string_view answer) {
  try {
    const simdjson::padded_string text(answer);
    ondemand::parser parser;
    ondemand::document parsed = parser.iterate(text);
    for (auto field : parsed.get_object()) {
      const std::string_view name = field.unescaped_key();
      if (name != "metadata" && name != "details") continue;
      std::string_view uid;
      if (field.value()["uid"].get_string().get(uid) == simdjson::SUCCESS) return std::string(uid);
    }
  } catch (const simdjson::simdjson_error&) {
  }
  return {};
}

std::string key_of(std::string_view namespace_, std::string_view name) {
  return std::string(namespace_) + "/" + std::string(name);
}

}  // namespace

bool is_dry_run(const RestRequest& request) {
  return std::any_of(request.query.begin(), request.query.end(),
                     [](const auto& parameter) { return parameter.first == "dryRun"; });
}

AnsweredVersion version_in(std::string_view document) {
  try {
    const simdjson::padded_string text(document);
    ondemand::parser parser;
    ondemand::document parsed = parser.iterate(text);
    for (auto field : parsed.get_object()) {
      const std::string_view name = field.unescaped_key();
      if (name == "metadata") return version_in(ondemand::object(field.value().get_object()));
    }
  } catch (const simdjson::simdjson_error&) {
  }
  return {};
}

WriteLog::Pending::Pending(std::shared_ptr<WriteLog> log, const RestRequest& request, std::uint64_t writer)
    : writer_(writer) {
  if (!log->enabled_.load(std::memory_order_relaxed) || !changes_an_object(request)) return;
  log_ = std::move(log);
  key_ = key_of(request.namespace_, request.name);
  MutexLock lock(log_->mutex_);
  log_->pending_.emplace(key_, writer_);
}

void WriteLog::Pending::end() noexcept {
  const std::shared_ptr<WriteLog> log = std::exchange(log_, nullptr);
  if (!log) return;
  MutexLock lock(log->mutex_);
  const auto [first, last] = log->pending_.equal_range(key_);
  const auto found = std::find_if(first, last, [this](const auto& one) { return one.second == writer_; });
  if (found != last) log->pending_.erase(found);
}

void WriteLog::on_answer(const RestRequest& request, std::string_view answer, std::uint64_t writer) {
  if (!enabled_.load(std::memory_order_relaxed)) return;
  if (removes_an_object(request)) {
    std::string uid = removed_uid(answer);
    if (!uid.empty()) add({.uid = std::move(uid), .writer = writer, .removes = true});
    return;
  }
  const bool creates = creates_an_object(request);
  if (!creates && !changes_an_object(request)) return;
  AnsweredVersion now = version_in(answer);
  if (now.uid.empty() || now.version.empty()) return;
  LoggedWrite write{.uid = std::move(now.uid),
                    .version = std::move(now.version),
                    .writer = writer,
                    .form = creates ? SentForm::opaque : form_of(request)};
  if (write.form != SentForm::opaque) write.base = version_in(request.body).version;
  if (write.base == write.version) return;  // it changed nothing
  const bool needed = write.form != SentForm::document || write.base.empty();
  if (request.body.size() > max_body) {
    write.form = SentForm::opaque;
  } else if (needed && write.form != SentForm::opaque) {
    write.body = request.body;
  }
  add(std::move(write));
}

void WriteLog::add(LoggedWrite write) {
  const auto entry = std::make_shared<const LoggedWrite>(std::move(write));
  MutexLock lock(mutex_);
  order_.push_back(entry);
  bytes_ += size_of(*entry);
  objects_[entry->uid].push_back(entry);
  while (order_.size() > max_writes || bytes_ > max_bytes) forget_oldest();
}

// Writes are forgotten in the order in which they came, so the oldest is the first of its object.
void WriteLog::forget_oldest() {
  const Entry oldest = std::move(order_.front());
  order_.pop_front();
  bytes_ -= size_of(*oldest);
  const auto found = objects_.find(oldest->uid);
  found->second.pop_front();
  if (found->second.empty()) objects_.erase(found);
}

LoggedWrites WriteLog::writes_to(std::string_view uid, std::uint64_t reader) const {
  LoggedWrites found;
  MutexLock lock(mutex_);
  const auto object = objects_.find(std::string(uid));
  if (object == objects_.end()) return found;
  const std::deque<Entry>& writes = object->second;
  const std::size_t first = writes.size() - std::min(writes.size(), max_writes_of_object);
  for (std::size_t at = first; at < writes.size(); ++at) {
    const bool counts = writes[at]->writer == 0 || writes[at]->writer == reader;
    if (counts && !writes[at]->removes) found.push_back(writes[at]);
  }
  return found;
}

bool WriteLog::cares_for(std::string_view uid, std::uint64_t reader) const {
  MutexLock lock(mutex_);
  const auto object = objects_.find(std::string(uid));
  if (object == objects_.end()) return false;
  bool wrote = false;
  for (const Entry& write : object->second) {
    if (write->writer != 0 && write->writer != reader) continue;
    if (write->removes) return false;
    wrote = true;
  }
  return wrote;
}

bool WriteLog::is_pending(const std::string& key, std::uint64_t reader) const {
  const auto [first, last] = pending_.equal_range(key);
  return std::any_of(first, last,
                     [reader](const auto& one) { return one.second == 0 || one.second == reader; });
}

bool WriteLog::may_have_written(const ObjectVersion& state, std::uint64_t reader) const {
  const std::string key = key_of(state.namespace_, state.name);
  const std::string uid(state.uid);
  MutexLock lock(mutex_);
  if (is_pending(key, reader)) return true;
  const auto object = objects_.find(uid);
  if (object == objects_.end()) return false;
  const std::deque<Entry>& writes = object->second;
  const auto known = static_cast<std::ptrdiff_t>(std::min(writes.size(), max_writes_of_object));
  return std::any_of(writes.end() - known, writes.end(), [&](const Entry& write) {
    return write->version == state.version && (write->writer == 0 || write->writer == reader);
  });
}

std::size_t WriteLog::size() const {
  MutexLock lock(mutex_);
  return order_.size();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
