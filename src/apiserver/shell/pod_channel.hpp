// SPDX-License-Identifier: Apache-2.0
// The messages between a function of the kubelet, on its thread, and the connection to its client.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/apiserver/kubelet.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

/// Form of the messages.
enum class PodWire : std::uint8_t {
  process,  ///< v4 or v5.channel.k8s.io: the first byte is the number of a stream.
  port,     ///< v4.channel.k8s.io of one port.
  log,      ///< Plain bytes.
};

struct PodChannelOptions {
  PodWire wire = PodWire::process;
  bool with_input = true;
  bool with_output = true;
  bool with_errors = true;
  bool joins_errors = false;  ///< A terminal: stderr is written to stdout.
};

/// Thread safety: all members may be called concurrently.
class PodChannel final : public KubeletStreams {
 public:
  static constexpr std::size_t read_ahead = std::size_t{1} << 20;

  /// `wake` is called, under no lock, when next() may return something new, or room() has become true; it
  /// must only schedule work.
  PodChannel(PodChannelOptions options, std::function<void()> wake)
      : options_(options), wake_(std::move(wake)), input_ended_(!options.with_input) {}

  // For the function of the kubelet.
  std::optional<std::string> read() override EVENKEEL_EXCLUDES(mutex_);
  void write(std::string_view bytes) override;
  void write_error(std::string_view bytes) override;
  std::optional<TerminalSize> terminal_size() const override EVENKEEL_EXCLUDES(mutex_);
  std::stop_token stop_token() const override { return gone_.get_token(); }
  /// The function has ended: `last` is sent behind what it has written.
  void end(std::string last, std::optional<std::string> failure) EVENKEEL_EXCLUDES(mutex_);

  // For the connection.
  /// Takes a message of the client.
  void on_message(std::string message) EVENKEEL_EXCLUDES(mutex_);
  /// Sends a message before all others.
  void begin(std::string message) EVENKEEL_EXCLUDES(mutex_);
  /// The client has gone, or sends no more.
  void on_gone() EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if more messages of the client may be read.
  bool room() const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the next message for the client.
  std::optional<std::string> next() EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if next() will return nothing more.
  bool ended() const EVENKEEL_EXCLUDES(mutex_);
  /// Returns why the function failed, once it has.
  std::optional<std::string> failure() const EVENKEEL_EXCLUDES(mutex_);

 private:
  void send(unsigned char stream, std::string_view bytes) EVENKEEL_EXCLUDES(mutex_);
  void put(std::string message) EVENKEEL_EXCLUDES(mutex_);

  const PodChannelOptions options_;
  const std::function<void()> wake_;
  std::stop_source gone_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<std::string> inbox_ EVENKEEL_GUARDED_BY(mutex_);
  std::deque<std::string> outbox_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t inbox_bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::size_t outbox_bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::optional<TerminalSize> size_ EVENKEEL_GUARDED_BY(mutex_);
  bool input_ended_ EVENKEEL_GUARDED_BY(mutex_);
  bool is_gone_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::optional<std::string> failure_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
