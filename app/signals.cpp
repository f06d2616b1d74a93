#include "app/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "tamis/base/error.h"
#include "tamis/run/output.h"

namespace tamis::app {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void remember(int) { interrupted = 1; }

// A mapped input was cut short by somebody else: the numbers are gone, and so must this run be.
void input_lost(int) {
  constexpr char kMessage[] = "tamis: the input file was shortened while it was being read\n";
  remove_temporaries();
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  _exit(static_cast<int>(ErrorCode::io));
}

}  // namespace

void secure_standard_streams() {
  // By the wrong mode, so that reading the input and writing a result fail; messages may go nowhere.
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    // The lowest free number is the one that is closed.
    if (fcntl(stream, F_GETFD) < 0) [[maybe_unused]]
      const int opened = open("/dev/null", kModes[stream]);
  }
}

void install_signal_handlers() {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = remember;  // without SA_RESTART: a blocked read of standard input must return
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction earlier {};
  sigaction(SIGHUP, nullptr, &earlier);
  if (earlier.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup ignores it
  action.sa_handler = input_lost;
  sigaction(SIGBUS, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }

}  // namespace tamis::app
