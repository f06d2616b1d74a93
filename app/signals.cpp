#include "app/signals.h"

#include <csignal>

namespace tamis::app {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void remember(int) { interrupted = 1; }

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = remember;  // without SA_RESTART: a blocked read of standard input must return
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }

}  // namespace tamis::app
