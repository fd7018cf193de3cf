/* A library for Python's aioquic: it hands all calls to stack.py, which is inside of it, in the Python of this process.
 *
 * A process without Python, such as one of Rust, gets the interpreter that the library was built with. Packages are in
 * the folder aioquic next to the library. PACKAGES, a hash of them, makes a library with other packages another file.
 */
#define _GNU_SOURCE
#include "thalweg_stack.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of stack.py. */
__asm__(
    ".section .rodata\n"
    "stack_py: .incbin \"stack.py\"\n"
    ".byte 0\n"
    ".previous\n");
extern const char stack_py[] __attribute__((visibility("hidden")));

/* Functions that stack.py fills in, in this order. */
static struct {
  thalweg_stack *(*create)(const thalweg_stack_options *, uint64_t, char *, size_t);
  void (*destroy)(thalweg_stack *);
  int32_t (*datagram_in)(thalweg_stack *, uint64_t, uint32_t, const uint8_t *, size_t);
  int32_t (*datagram_out)(thalweg_stack *, uint64_t, thalweg_stack_datagram *);
  uint64_t (*next)(thalweg_stack *);
  int32_t (*expire)(thalweg_stack *, uint64_t);
  int64_t (*open)(thalweg_stack *, uint64_t);
  int64_t (*write)(thalweg_stack *, uint64_t, uint64_t, uint64_t, uint32_t);
  int32_t (*read)(thalweg_stack *, uint64_t, thalweg_stack_arrival *);
  int32_t (*close)(thalweg_stack *, uint64_t);
  int32_t (*status)(const thalweg_stack *);
  int32_t (*probe)(const thalweg_stack *, thalweg_stack_probes *);
  const char *(*fault)(const thalweg_stack *);
} python;

const thalweg_stack_info *thalweg_stack_describe(void) {
  static const char version[] = AIOQUIC "\0packages " PACKAGES;
  static const thalweg_stack_info info = {
      .abi = THALWEG_STACK_ABI, .max_streams = 0, .name = "aioquic", .version = version, .controllers = "cubic, reno"};
  return &info;
}

/* A function of Python's C interface; NULL if there is none. */
static void *function(const char *name) { return dlsym(RTLD_DEFAULT, name); }

/* Starts Python if there is none, and runs stack.py; what failed, or NULL. */
static const char *start(void) {
  static char folder[PATH_MAX + 16], code[512];
  Dl_info here;
  if (!dladdr(stack_py, &here) || !realpath(here.dli_fname, folder)) return "the library is nowhere";
  strcpy(strrchr(folder, '/'), "/aioquic");
  if (!function("Py_IsInitialized") && !dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL)) return "cannot load " LIBPYTHON;
  int (*is_initialized)(void) = (int (*)(void))function("Py_IsInitialized");
  void (*initialize)(int) = (void (*)(int))function("Py_InitializeEx");
  void *(*save)(void) = (void *(*)(void))function("PyEval_SaveThread");
  int (*ensure)(void) = (int (*)(void))function("PyGILState_Ensure");
  void (*release)(int) = (void (*)(int))function("PyGILState_Release");
  int (*run)(const char *, void *) = (int (*)(const char *, void *))function("PyRun_SimpleStringFlags");
  if (!is_initialized || !initialize || !save || !ensure || !release || !run) return "this is not a Python that we know";
  if (!is_initialized()) {
    setenv("PYTHONHOME", PYTHONHOME, 1);
    initialize(0);
    save();
  }
  snprintf(
      code, sizeof code,
      "import ctypes, sys, types\n"
      "sys.modules['thalweg_aioquic'] = types.ModuleType('thalweg_aioquic')\n"
      "vars(sys.modules['thalweg_aioquic']).update(TABLE=%zu, FOLDER=ctypes.string_at(%zu).decode())\n"
      "exec(compile(ctypes.string_at(%zu), 'stack.py', 'exec'), vars(sys.modules['thalweg_aioquic']))\n",
      (size_t)&python, (size_t)folder, (size_t)stack_py);
  int state = ensure();
  int failed = run(code, NULL);
  release(state);
  return failed || !python.create ? "aioquic does not start; Python has printed why" : NULL;
}

thalweg_stack *thalweg_stack_create(const thalweg_stack_options *options, uint64_t now, char *problem, size_t room) {
  const char *failed = python.create ? NULL : start();
  if (!failed) return python.create(options, now, problem, room);
  snprintf(problem, room, "%s", failed);
  return NULL;
}

void thalweg_stack_destroy(thalweg_stack *stack) { python.destroy(stack); }

int32_t thalweg_stack_datagram_in(thalweg_stack *stack, uint64_t now, uint32_t ecn, const uint8_t *data, size_t length) {
  return python.datagram_in(stack, now, ecn, data, length);
}

int32_t thalweg_stack_datagram_out(thalweg_stack *stack, uint64_t now, thalweg_stack_datagram *datagram) {
  return python.datagram_out(stack, now, datagram);
}

uint64_t thalweg_stack_next(thalweg_stack *stack) { return python.next(stack); }

int32_t thalweg_stack_expire(thalweg_stack *stack, uint64_t now) { return python.expire(stack, now); }

int64_t thalweg_stack_open(thalweg_stack *stack, uint64_t now) { return python.open(stack, now); }

int64_t thalweg_stack_write(thalweg_stack *stack, uint64_t now, uint64_t stream, uint64_t bytes, uint32_t fin) {
  return python.write(stack, now, stream, bytes, fin);
}

int32_t thalweg_stack_read(thalweg_stack *stack, uint64_t now, thalweg_stack_arrival *arrival) {
  return python.read(stack, now, arrival);
}

int32_t thalweg_stack_close(thalweg_stack *stack, uint64_t now) { return python.close(stack, now); }

int32_t thalweg_stack_status(const thalweg_stack *stack) { return python.status(stack); }

int32_t thalweg_stack_probe(const thalweg_stack *stack, thalweg_stack_probes *probes) {
  return python.probe(stack, probes);
}

const char *thalweg_stack_fault(const thalweg_stack *stack) { return python.fault(stack); }
