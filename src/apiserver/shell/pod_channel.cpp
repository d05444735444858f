// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/pod_channel.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/base/error.hpp>

#include "apiserver/shell/kubelet_messages.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

constexpr std::size_t longest_piece = std::size_t{32} << 10;

}  // namespace

std::optional<std::string> PodChannel::read() {
  std::string bytes;
  bool was_full = false;
  {
    MutexLock lock(mutex_);
    while (inbox_.empty() && !input_ended_) changed_.wait(lock);
    if (inbox_.empty()) return std::nullopt;
    was_full = inbox_bytes_ >= read_ahead;
    bytes = std::move(inbox_.front());
    inbox_.pop_front();
    inbox_bytes_ -= bytes.size();
    was_full = was_full && inbox_bytes_ < read_ahead;
  }
  if (was_full) wake_();
  return bytes;
}

void PodChannel::write(std::string_view bytes) {
  send(output_stream, options_.with_output ? bytes : std::string_view());
}

void PodChannel::write_error(std::string_view bytes) {
  if (options_.wire != PodWire::process || options_.joins_errors) return write(bytes);
  send(error_stream, options_.with_errors ? bytes : std::string_view());
}

void PodChannel::send(unsigned char stream, std::string_view bytes) {
  if (gone_.stop_requested()) throw Cancelled("the client of the Pod has gone");
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), longest_piece))) {
    const std::string_view piece = bytes.substr(0, longest_piece);
    if (options_.wire == PodWire::log) {
      put(std::string(piece));
    } else {
      put(stream_message(options_.wire == PodWire::port ? data_stream : stream, piece));
    }
  }
}

void PodChannel::put(std::string message) {
  {
    MutexLock lock(mutex_);
    while (outbox_bytes_ >= read_ahead && !is_gone_) changed_.wait(lock);
    if (is_gone_) throw Cancelled("the client of the Pod has gone");
    outbox_bytes_ += message.size();
    outbox_.push_back(std::move(message));
  }
  wake_();
}

std::optional<TerminalSize> PodChannel::terminal_size() const {
  MutexLock lock(mutex_);
  return size_;
}

void PodChannel::end(std::string last, std::optional<std::string> failure) {
  {
    MutexLock lock(mutex_);
    ended_ = true;
    failure_ = std::move(failure);
    if (!last.empty()) outbox_.push_back(std::move(last));
  }
  wake_();
}

void PodChannel::on_message(std::string message) {
  std::optional<ClientMessage> read = client_message(std::move(message));
  if (!read) return;
  MutexLock lock(mutex_);
  if (read->size) size_ = read->size;
  if (read->ends_input) input_ended_ = true;
  if (!read->bytes.empty() && !input_ended_) {
    inbox_bytes_ += read->bytes.size();
    inbox_.push_back(std::move(read->bytes));
  }
  changed_.notify_all();
}

void PodChannel::begin(std::string message) {
  MutexLock lock(mutex_);
  outbox_.push_back(std::move(message));
}

void PodChannel::on_gone() {
  gone_.request_stop();  // before read() reports the end of the input
  MutexLock lock(mutex_);
  input_ended_ = true;
  is_gone_ = true;
  outbox_.clear();
  changed_.notify_all();
}

bool PodChannel::room() const {
  MutexLock lock(mutex_);
  return inbox_bytes_ < read_ahead;
}

std::optional<std::string> PodChannel::next() {
  MutexLock lock(mutex_);
  if (outbox_.empty()) return std::nullopt;
  std::string message = std::move(outbox_.front());
  outbox_.pop_front();
  outbox_bytes_ -= std::min(outbox_bytes_, message.size());
  changed_.notify_all();
  return message;
}

bool PodChannel::ended() const {
  MutexLock lock(mutex_);
  return ended_ && outbox_.empty();
}

std::optional<std::string> PodChannel::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
