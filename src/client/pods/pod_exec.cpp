// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/pod_exec.hpp>

#include "client/pods/exec_core.hpp"
#include "client/pods/exec_request.hpp"
#include "client/pods/pod_stream.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using http::WebSocket;

/// A process and the connection to it.
class Process {
 public:
  Process(const Client& client, const RestRequest& request, bool with_stdin)
      : stream_(client, request, detail::exec_protocols()), core_(stream_.call()), with_stdin_(with_stdin) {}

  std::optional<ProcessOutput> read(const std::stop_token& stop) {
    while (!core_.exit_code()) {
      stream_.wait(WebSocket::readable, stop);
      if (auto output = take()) return output;
    }
    return std::nullopt;
  }
  int wait(const std::stop_token& stop) {
    while (read(stop)) {
    }
    return *core_.exit_code();
  }
  void write(std::string_view bytes, const std::stop_token& stop) {
    require_stdin();
    stream_.send(bytes, detail::stdin_message, stop);
  }
  void close_stdin(const std::stop_token& stop) {
    require_stdin();
    require_end_of_stdin();
    stream_.send(detail::end_of_stdin_message(), stop);
  }
  void resize(TerminalSize size, const std::stop_token& stop) {
    stream_.send(detail::resize_message(size), stop);
  }

  /// Sends all input and reads all output, whichever can be done; returns the exit code.
  template <class OnOutput>
  int run(std::string_view input, const OnOutput& on_output) {
    bool is_writing = with_stdin_;
    if (is_writing) require_end_of_stdin();
    for (;;) {
      while (auto output = take()) on_output(*output);
      if (const auto code = core_.exit_code()) return *code;
      const unsigned writable = is_writing ? WebSocket::writable : 0U;
      stream_.wait(WebSocket::readable | writable, {});
      if (is_writing) is_writing = offer(input);
    }
  }
  const std::string& call() const { return stream_.call(); }

 private:
  /// Returns the next output that has arrived.
  std::optional<ProcessOutput> take() {
    while (!core_.exit_code()) {
      std::optional<std::string> message = stream_.socket().receive();
      if (!message) {
        if (const auto close = stream_.socket().closed()) core_.on_close(*close);
        return std::nullopt;
      }
      if (auto output = core_.on_message(std::move(*message))) return output;
    }
    return std::nullopt;
  }

  /// Sends the next piece, if it can be sent now; returns false when the last one is out.
  bool offer(std::string_view& input) const {
    WebSocket& socket = stream_.socket();
    if (socket.closed()) return false;
    const std::string_view piece = input.substr(0, detail::longest_piece);
    if (!socket.send(input.empty() ? detail::end_of_stdin_message() : detail::stdin_message(piece)))
      return true;
    const bool was_last = input.empty();
    input.remove_prefix(piece.size());
    return !was_last;
  }

  void require_stdin() const {
    if (!with_stdin_) throw std::invalid_argument("ExecSession: stdin was not asked for (with_stdin)");
  }
  void require_end_of_stdin() const {
    if (stream_.socket().protocol() != detail::exec_protocol_with_end) {
      throw Error(call() + ": the server speaks " + stream_.socket().protocol() +
                  ", in which stdin cannot be ended");
    }
  }

  detail::PodStream stream_;
  detail::ExecCore core_;
  const bool with_stdin_;
};

}  // namespace

class ExecSession::State : public Process {
 public:
  using Process::Process;
};

ExecSession::ExecSession(const Client& client, const ObjectKey& pod, const ExecOptions& options)
    : state_(std::make_unique<State>(client, detail::exec_request(pod, options), options.with_stdin)) {}
ExecSession::ExecSession(const Client& client, const ObjectKey& pod, const AttachOptions& options)
    : state_(std::make_unique<State>(client, detail::attach_request(pod, options), options.with_stdin)) {}
ExecSession::~ExecSession() = default;
ExecSession::ExecSession(ExecSession&&) noexcept = default;
ExecSession& ExecSession::operator=(ExecSession&&) noexcept = default;

std::optional<ProcessOutput> ExecSession::read(const std::stop_token& stop) {
  return state_->read(stop);
}

void ExecSession::write(std::string_view bytes, const std::stop_token& stop) {
  state_->write(bytes, stop);
}

void ExecSession::close_stdin(const std::stop_token& stop) {
  state_->close_stdin(stop);
}

void ExecSession::resize(TerminalSize size, const std::stop_token& stop) {
  state_->resize(size, stop);
}

int ExecSession::wait(const std::stop_token& stop) {
  return state_->wait(stop);
}

namespace {

template <class OnOutput>
int run(const Client& client, const ObjectKey& pod, ExecOptions options, std::string_view input,
        const OnOutput& on_output) {
  options.with_stdin = options.with_stdin || !input.empty();
  Process process(client, detail::exec_request(pod, options), options.with_stdin);
  return process.run(input, on_output);
}

}  // namespace

ExecResult exec(const Client& client, const ObjectKey& pod, ExecOptions options, std::string_view input) {
  ExecResult result;
  const std::string call = describe(detail::exec_request(pod, options));
  result.exit_code = run(client, pod, std::move(options), input, [&](const ProcessOutput& output) {
    if (result.out.size() + result.err.size() + output.bytes.size() > max_exec_output)
      throw Error(call + ": the command wrote more than " + std::to_string(max_exec_output) + " bytes");
    (output.is_stderr ? result.err : result.out) += output.bytes;
  });
  return result;
}

int exec(const Client& client, const ObjectKey& pod, ExecOptions options, const ExecListener& listener,
         std::string_view input) {
  return run(client, pod, std::move(options), input, [&](const ProcessOutput& output) {
    const auto& receive = output.is_stderr ? listener.on_stderr : listener.on_stdout;
    if (receive) receive(output.bytes);
  });
}

}  // namespace v0
}  // namespace evenkeel
