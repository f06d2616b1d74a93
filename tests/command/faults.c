// Preloaded into the command by test_faults.py: lets one system or library call fail, the Nth of its kind since main().
//
//   TAMIS_FAULT      KIND:N fails the Nth call, KIND:N+ that one and all later ones; N = 0 only counts
//   TAMIS_FAULT_ERRNO  what the failing call reports, a number; memory is always ENOMEM
//   TAMIS_FAULT_LOG  file that gets the number of calls of this kind when the process ends
//
// Kinds: malloc (every allocation but those of OpenBLAS, some of whose kernels do not check what they get), mmap, thread,
// write, sync, rename, create (what makes a file or folder, or opens one to write), open (a file to read), read.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { MALLOC, MMAP, THREAD, WRITE, SYNC, RENAME, CREATE, OPEN, READ, NONE };
static const char* const names[] = {"malloc", "mmap", "thread", "write", "sync", "rename", "create", "open", "read"};

static enum kind failing = NONE;
static long wanted = 0;  // which call fails, from 1
static int all_later = 0;
static int reported = 0;
static const char* log_path = NULL;
static atomic_long calls = 0;
static atomic_int armed = 0;

static int fails(enum kind kind) {
  if (kind != failing || !atomic_load(&armed)) return 0;
  const long number = 1 + atomic_fetch_add(&calls, 1);
  if (wanted == 0 || number < wanted || (number > wanted && !all_later)) return 0;
  errno = kind == MALLOC || kind == MMAP ? ENOMEM : reported;
  return 1;
}

// Where OpenBLAS is in memory.
static const char *blas_begin = NULL, *blas_end = NULL;

static int find_blas(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)size, (void)unused;
  if (object->dlpi_name == NULL || strstr(object->dlpi_name, "openblas") == NULL) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD || !(object->dlpi_phdr[i].p_flags & PF_X)) continue;
    blas_begin = (const char*)object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    blas_end = blas_begin + object->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

static int allocation_fails(const void* caller) {
  const int from_blas = (const char*)caller >= blas_begin && (const char*)caller < blas_end;
  return !from_blas && fails(MALLOC);
}

#define ALLOCATION_FAILS allocation_fails(__builtin_return_address(0))

static void read_settings(void) {
  const char* words = getenv("TAMIS_FAULT");
  const char* error = getenv("TAMIS_FAULT_ERRNO");
  log_path = getenv("TAMIS_FAULT_LOG");
  const char* colon = words == NULL ? NULL : strchr(words, ':');
  if (colon == NULL) return;
  for (int kind = 0; kind < NONE; ++kind) {
    if (strlen(names[kind]) == (size_t)(colon - words) && strncmp(words, names[kind], (size_t)(colon - words)) == 0)
      failing = (enum kind)kind;
  }
  char* end = NULL;
  wanted = strtol(colon + 1, &end, 10);
  all_later = *end == '+';
  reported = error == NULL ? ENOMEM : atoi(error);
}

// System calls of its own: nothing here may count or fail.
__attribute__((destructor)) static void write_log(void) {
  if (log_path == NULL || failing == NONE) return;
  char digits[32];
  const int size = snprintf(digits, sizeof digits, "%ld", atomic_load(&calls));
  const long file = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  syscall(SYS_write, file, digits, size);
  syscall(SYS_close, file);
}

// What the dynamic linker and constructors do before main() is not the command's.
static int (*real_main)(int, char**, char**) = NULL;

static int armed_main(int argc, char** argv, char** environment) {
  dl_iterate_phdr(find_blas, NULL);
  atomic_store(&armed, 1);
  return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main_function)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  read_settings();
  real_main = main_function;
  return next(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}

// --- Memory and threads -----------------------------------------------------------------------------------------------

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) { return ALLOCATION_FAILS ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return ALLOCATION_FAILS ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return ALLOCATION_FAILS ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return ALLOCATION_FAILS ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return ALLOCATION_FAILS ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  void* made = ALLOCATION_FAILS ? NULL : __libc_memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *result = made;
  return 0;
}

#define NEXT(name)                                                   \
  static __typeof__(name)* next = NULL;                              \
  if (next == NULL) next = (__typeof__(name)*)dlsym(RTLD_NEXT, #name)

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (fails(MMAP)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}
void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) {
  return mmap(address, size, protection, flags, file, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  NEXT(pthread_create);
  return fails(THREAD) ? EAGAIN : next(thread, attributes, start, argument);
}

// --- Files ------------------------------------------------------------------------------------------------------------

ssize_t write(int file, const void* bytes, size_t size) {
  return fails(WRITE) ? -1 : syscall(SYS_write, file, bytes, size);
}
ssize_t writev(int file, const struct iovec* pieces, int count) {
  return fails(WRITE) ? -1 : syscall(SYS_writev, file, pieces, count);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return fails(WRITE) ? -1 : syscall(SYS_pwrite64, file, bytes, size, offset);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) { return pwrite(file, bytes, size, offset); }
int ftruncate(int file, off_t size) { return fails(WRITE) ? -1 : (int)syscall(SYS_ftruncate, file, size); }
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int fsync(int file) { return fails(SYNC) ? -1 : (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails(SYNC) ? -1 : (int)syscall(SYS_fdatasync, file); }

int rename(const char* from, const char* to) { return fails(RENAME) ? -1 : (int)syscall(SYS_rename, from, to); }

ssize_t read(int file, void* bytes, size_t size) { return fails(READ) ? -1 : syscall(SYS_read, file, bytes, size); }
ssize_t pread(int file, void* bytes, size_t size, off_t offset) {
  return fails(READ) ? -1 : syscall(SYS_pread64, file, bytes, size, offset);
}
ssize_t pread64(int file, void* bytes, size_t size, off64_t offset) { return pread(file, bytes, size, offset); }

static enum kind kind_of_open(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0 ? CREATE : OPEN;
}

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (fails(kind_of_open(flags))) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return openat(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

FILE* fopen(const char* path, const char* mode) {
  NEXT(fopen);
  return fails(mode[0] == 'r' ? OPEN : CREATE) ? NULL : next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

int mkostemp(char* path, int flags) {
  NEXT(mkostemp);
  return fails(CREATE) ? -1 : next(path, flags);
}
int mkostemp64(char* path, int flags) { return mkostemp(path, flags); }
int mkdir(const char* path, mode_t mode) { return fails(CREATE) ? -1 : (int)syscall(SYS_mkdir, path, mode); }
