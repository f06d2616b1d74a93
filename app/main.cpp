#include "app/command.h"

int main(int argc, char** argv) { return tamis::app::run_command(argc, argv); }
