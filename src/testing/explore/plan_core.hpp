// SPDX-License-Identifier: Apache-2.0
// The steps of a plan while its run goes on: the treatment of each write, restarts, and withheld events.
// Driver:
//  1. calls on_write() before each write is sent, and treats it as the result says;
//  2. calls on_written() after the server has answered it, unless it was refused;
//  3. calls on_point() when a run reaches an explore point, and on_point_end() when its effect has returned;
//  4. calls on_contact() before each request of the operator;
//  5. while is_dead(), lets no request or point of the operator's process through; while ends_after_run(),
//     ends the process at the next opportunity outside of a run, and then calls take_restart();
//  6. while has_lost_leadership(), sends no write of the operator;
//  7. keeps back the watch events of each resource that withholds() names, and, when all events so far have
//     arrived, delivers as next_release() says;
//  8. calls on_run() when a run begins;
//  9. calls on_idle() when the operator has nothing left to do at that time, and finish() when the workload
//     has ended;
// 10. after on_point(), if is_overtaken(), lets the process stand still there, and the next one begin, with
//     take_restart(); lets it go on once goes_on(), and calls on_gone() when its run has ended.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/testing/plan.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Prefix of the writes of the workload in moments.
inline constexpr std::string_view workload_prefix = "workload: ";
/// Prefix of explore points in moments.
inline constexpr std::string_view point_prefix = "point ";

/// Number of runs after which an operator that is never idle sees the current state again.
inline constexpr std::size_t runs_in_the_dark = 10;

/// Treatment of a write.
struct Treatment {
  enum class Kind { pass, refuse, lose, crash, withdraw };  // withdraw: it is not sent
  Kind kind = Kind::pass;
  int status = 0;      // for refuse
  Moment moment = {};  // of the write
};

/// Start of the next process.
struct Restart {
  std::optional<Moment> as_before = {};  ///< The cache begins in the state before this write.
  bool takes_over = false;               ///< It is that of another replica, as leadership was lost.
};

/// End of a window: the events of a resource that were withheld are due.
struct Release {
  std::string resource = {};
  WithheldDelivery delivery = WithheldDelivery::late;
};

class PlanCore {
 public:
  explicit PlanCore(Plan plan);

  Treatment on_write(const std::string& write);
  void on_written(const Treatment& treated);
  /// `has_end`: on_point_end() follows. The point is not passed if is_dead() afterwards.
  Moment on_point(const std::string& point, bool has_end);
  void on_point_end(const Moment& point);
  void on_contact();
  void on_run();
  /// `more`: there is something to do later.
  void on_idle(bool more);
  void finish();

  bool is_dead() const { return restart_.has_value(); }
  bool has_lost_leadership() const { return lost_leadership_; }
  bool is_overtaken() const { return overtaken_; }
  /// Returns true if a point may have that effect.
  bool may_be_overtaken() const;
  /// Returns true if the process that stands still is to go on.
  bool is_due() const { return standing_ && standing_->is_due; }
  /// Returns true once if is_due(); the process that goes on is not the leader any more.
  bool goes_on();
  void on_gone() { lost_leadership_ = false; }
  bool ends_after_run() const { return is_dead() || lost_leadership_ || is_dying_; }
  Restart take_restart();
  bool withholds(std::string_view resource) const;
  /// Returns true if a step concerns the watches of `resource`.
  bool concerns(std::string_view resource) const;
  std::optional<Release> next_release();
  /// Returns the steps that took effect since the last call.
  std::vector<PlanStep> take_effective();
  /// Returns the steps that have not taken effect.
  std::vector<PlanStep> missed() const;

 private:
  struct Progress {
    PlanStep step;
    bool begun = false;
    bool holds = false;    // of a withheld step
    std::size_t runs = 0;  // that began while it held
    bool ends = false;     // the window is over, its events are due
  };
  /// A process that stands still.
  struct Standing {
    Moment until;
    bool is_past = false;  // until, if that is set
    std::size_t runs = 0;  // that began since then
    bool is_due = false;
  };
  void begin(Progress& progress, Treatment& treatment, bool of_workload);
  void take_effect(Progress& progress);

  std::vector<Progress> steps_;
  std::map<std::string, std::size_t, std::less<>> writes_;  // number of each text
  std::optional<Restart> restart_;
  bool is_dying_ = false;  // the process ends at its next contact with the runtime
  bool lost_leadership_ = false;
  bool overtaken_ = false;  // the process is to stand still
  std::optional<Standing> standing_;
  std::vector<PlanStep> effective_;
  bool finished_ = false;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
