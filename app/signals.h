// What the system brings to the program. Ctrl-C and its kin: a handler only sets a flag, which the library polls
// through Context::is_cancelled, so that everything is cleaned up on the ordinary way out.
#pragma once

namespace tamis::app {

// Where the program was started with standard input, output or error closed: no file that it opens may become one of
// them. Reading from such an input and writing to such an output fail.
void secure_standard_streams();

// SIGINT, SIGTERM and SIGHUP (unless it is ignored, as nohup does) set the flag; SIGBUS (a mapped input was cut short)
// ends the program with one line; SIGPIPE and SIGXFSZ are ignored, so that writes fail with an error instead.
void install_signal_handlers();
bool is_interrupted();

}  // namespace tamis::app
