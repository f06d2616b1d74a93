#include "app/command.h"

#if defined(__linux__) && defined(__GLIBC__)
#include <unistd.h>

#include <string_view>

// OpenBLAS, once loaded, starts a thread for every core, and each spins for some 30 ms before it sleeps. tamis never
// uses them: it has threads of its own, and each calls BLAS by itself. The loader runs what is in .preinit_array before
// any library starts, so OpenBLAS can be told there. The environment has no room for one more variable at that time:
// one that libraries do not read lends its place until main().
namespace {

char** lent = nullptr;
char* lender = nullptr;
char one_thread[] = "OPENBLAS_NUM_THREADS=1";

void tell_openblas(int /*argc*/, char** /*argv*/, char** environment) {
  for (char** at = environment; *at != nullptr && lent == nullptr; ++at) {
    const std::string_view variable = *at;
    for (const std::string_view name : {"_=", "PWD=", "OLDPWD=", "SHLVL="}) {
      if (variable.starts_with(name)) lent = at;
    }
  }
  if (lent == nullptr) return;
  lender = *lent;
  *lent = one_thread;
}

void give_back() {
  if (lent != nullptr) *lent = lender;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)(int, char**, char**) = tell_openblas;

}  // namespace
#else
static void give_back() {}
#endif

int main(int argc, char** argv) {
  give_back();
  return tamis::app::run_command(argc, argv);
}
