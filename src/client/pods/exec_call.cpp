// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <utility>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/exec_call.hpp>

#include "client/pods/exec_core.hpp"
#include "client/pods/exec_request.hpp"
#include "client/pods/pod_call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

class StartedProcess final : public ExecCall, public detail::PodCall {
 public:
  StartedProcess(const RestRequest& request, bool with_stdin, ProcessListener listener)
      : PodCall(describe(request)), core_(call()), with_stdin_(with_stdin), listener_(std::move(listener)) {}

  void start(const Client& client, const RestRequest& request, const std::shared_ptr<PodCall>& self) {
    open(client, request, detail::exec_protocols(), self);
  }

  void cancel() noexcept override { cancel_socket(); }
  void pause() noexcept override { set_paused(true); }
  void resume() noexcept override { set_paused(false); }
  void write(std::string bytes) override {
    if (with_stdin_) send(bytes, detail::stdin_message);
  }
  void close_stdin() override {
    if (!with_stdin_) return;
    ends_stdin_.store(true);
    if (lacks_end_.load()) return fail(no_end_of_stdin());
    send(detail::end_of_stdin_message());
  }
  void resize(TerminalSize size) override { send(detail::resize_message(size)); }
  std::size_t unsent() const override { return unsent_bytes(); }

 private:
  // Either this or close_stdin() sees what the other one has stored.
  void take_open(const std::string& protocol) override {
    protocol_ = protocol;
    lacks_end_.store(protocol != detail::exec_protocol_with_end);
    if (lacks_end_.load() && ends_stdin_.load()) std::rethrow_exception(no_end_of_stdin());
    if (listener_.on_start) listener_.on_start();
  }
  void take_message(std::string message) override {
    auto output = core_.on_message(std::move(message));
    if (output && listener_.on_output) listener_.on_output(std::move(*output));
    if (core_.exit_code()) finish(nullptr);
  }
  void on_drained() override {
    if (listener_.on_drained) listener_.on_drained();
  }
  void take_close(const http::WebSocketClose& close) override { core_.on_close(close); }
  void take_end(std::exception_ptr error) override {
    const ProcessListener listener = std::move(listener_);
    if (!listener.on_end) return;
    if (error) return listener.on_end(Outcome<int>(std::move(error)));
    listener.on_end(Outcome<int>(*core_.exit_code()));
  }
  std::exception_ptr no_end_of_stdin() const {
    return std::make_exception_ptr(
        Error(call() + ": the server speaks " + protocol_ + ", in which stdin cannot be ended"));
  }

  detail::ExecCore core_;
  const bool with_stdin_;
  ProcessListener listener_;
  std::string protocol_;                 // written before lacks_end_
  std::atomic<bool> lacks_end_ = false;  // the server's protocol has no end of stdin
  std::atomic<bool> ends_stdin_ = false;
};

std::shared_ptr<StartedProcess> start(const Client& client, const RestRequest& request, bool with_stdin,
                                      ProcessListener listener) {
  auto process = std::make_shared<StartedProcess>(request, with_stdin, std::move(listener));
  process->start(client, request, process);
  return process;
}

/// Collects the output of a command.
struct Collected {
  std::function<void(Outcome<ExecResult>)> done;
  std::string call;
  ExecResult result;

  void add(const ProcessOutput& output) {
    if (result.out.size() + result.err.size() + output.bytes.size() > max_exec_output)
      throw Error(call + ": the command wrote more than " + std::to_string(max_exec_output) + " bytes");
    (output.is_stderr ? result.err : result.out) += output.bytes;
  }
  void end(Outcome<int> code) {
    if (!code.ok()) return done(Outcome<ExecResult>(code.error()));
    result.exit_code = code.value();
    done(Outcome<ExecResult>(std::move(result)));
  }
};

}  // namespace

std::shared_ptr<ExecCall> start_exec(const Client& client, const ObjectKey& pod, const ExecOptions& options,
                                     ProcessListener listener) {
  return start(client, detail::exec_request(pod, options), options.with_stdin, std::move(listener));
}

std::shared_ptr<ExecCall> start_attach(const Client& client, const ObjectKey& pod,
                                       const AttachOptions& options, ProcessListener listener) {
  return start(client, detail::attach_request(pod, options), options.with_stdin, std::move(listener));
}

std::shared_ptr<ExecCall> start_exec(const Client& client, const ObjectKey& pod, ExecOptions options,
                                     std::string input, std::function<void(Outcome<ExecResult>)> done) {
  options.with_stdin = options.with_stdin || !input.empty();
  const RestRequest request = detail::exec_request(pod, options);
  const auto collected = std::make_shared<Collected>();
  collected->done = std::move(done);
  collected->call = describe(request);
  auto process = start(client, request, options.with_stdin,
                       {.on_output = [collected](ProcessOutput output) { collected->add(output); },
                        .on_end = [collected](Outcome<int> code) { collected->end(std::move(code)); }});
  process->write(std::move(input));
  process->close_stdin();
  return process;
}

}  // namespace v0
}  // namespace evenkeel
