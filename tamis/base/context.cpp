#include "tamis/base/context.h"

#include "tamis/base/error.h"

namespace tamis {

namespace {}  // namespace

Context::Context(int threads, std::uint64_t seed_value)
    : seed(seed_value), pool_(std::make_unique<ThreadPool>(threads)) {}

void Context::phase(const std::string& name, const Steps& steps, const std::string& detail) {
  if (!shows_here()) return;
  at_.phase = name;
  at_.steps = steps;
  at_.detail = detail;
  at_.unit = Progress::Unit::items;
  show_now();
}

void Context::share_done(const std::string& name, double share) {
  if (!shows_here()) return;
  at_.phase = name;
  at_.steps = {.done = share, .total = 1, .even = false};
  at_.detail.clear();
  at_.unit = Progress::Unit::share;
  show_now();
}

void Context::bytes_read(std::uint64_t done, std::uint64_t total) {
  if (!shows_here()) return;
  at_.steps = {.done = static_cast<double>(done), .total = static_cast<double>(total)};
  at_.unit = Progress::Unit::bytes;
  check_cancelled();
}

void Context::show_now() {
  at_.rows_done = walk_ == nullptr ? rows_read_ : walk_->rows_done();
  at_.rows = walk_ == nullptr ? 0 : walk_->rows();
  next_show_ = std::chrono::steady_clock::now() + between_progress;
  on_progress(at_);
}

void Context::warn(const Warning& warning) {
  if (on_warning) on_warning(warning);
}

void Context::check_cancelled() {
  if (is_cancelled && is_cancelled()) fail(ErrorCode::interrupted, "interrupted");
  if (shows_here() && std::chrono::steady_clock::now() >= next_show_) show_now();
}

Stage::Stage(Context& context, const std::string& name) : context_(context), shown_(context.shows_here()) {
  if (!shown_) return;
  before_ = std::exchange(context.at_, {});
  context.at_.pass = before_.pass;
  context.at_.stage = before_.stage.empty() ? name : before_.stage + ": " + name;
  context.rows_read_ = 0;
}

Stage::~Stage() {
  if (!shown_) return;
  before_.pass = context_.at_.pass;
  context_.at_ = std::move(before_);
  context_.rows_read_ = 0;
}

Walk::Walk(Context& context, Index tasks, Index rows)
    : context_(context), tasks_(tasks), rows_(rows), outermost_(context.shows_here() && context.walk_ == nullptr) {
  if (!outermost_) return;
  context.walk_ = this;
  ++context.at_.pass;
}

Walk::~Walk() {
  if (outermost_) context_.walk_ = nullptr;
}

Index Walk::rows_done() const {
  const double share = static_cast<double>(done_.load(std::memory_order_relaxed)) / static_cast<double>(tasks_);
  return static_cast<Index>(share * static_cast<double>(rows_));
}

}  // namespace tamis
