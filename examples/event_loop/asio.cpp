// SPDX-License-Identifier: Apache-2.0
// A watch and an election in a program on Boost.Asio, without any thread. Needs evenkeel::election only.
//   asio-loop [NAME [IDENTITY [SECONDS]]]    candidate for the Lease NAME; prints the changes of config maps
#include <csignal>
#include <utility>  // which boost/asio.hpp 1.74 does not include

#include <boost/asio.hpp>

#include "app.hpp"

namespace asio = boost::asio;

// Polls the library's loop whenever it asks for it.
class Driver {
 public:
  Driver(asio::io_context& io, std::shared_ptr<ek::EventLoop> loop)
      : loop_(std::move(loop)), ready_(io, loop_->fd()), timer_(io) {}
  ~Driver() { ready_.release(); }  // the loop closes it

  void start() {
    wait_for_events();
    wait_for_time();
  }

 private:
  void wait_for_events() {
    ready_.async_wait(ready_.wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      loop_->poll();
      start();
    });
  }
  void wait_for_time() {
    timer_.expires_at(loop_->next_due().value_or(ek::TimePoint::max()));  // ends the wait before
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      loop_->poll();
      wait_for_time();
    });
  }

  const std::shared_ptr<ek::EventLoop> loop_;
  asio::posix::stream_descriptor ready_;
  asio::steady_timer timer_;
};

int main(int argc, char** argv) try {
  asio::io_context io(1);
  const auto loop = std::make_shared<ek::EventLoop>();
  App app(loop, argc, argv, [&io] { io.stop(); });
  asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&app](const boost::system::error_code& error, int) {
    if (!error) app.stop();
  });
  Driver driver(io, loop);
  driver.start();
  io.run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "asio-loop: %s\n", error.what());
  return 1;
}
