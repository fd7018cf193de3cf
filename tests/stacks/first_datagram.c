/* Prints the first datagram of a client of a library: first_datagram LIBRARY. There is nothing else in its process. */
#include "thalweg_stack.h"

#include <dlfcn.h>
#include <stdio.h>

typedef thalweg_stack *(*create_function)(const thalweg_stack_options *, uint64_t, char *, size_t);
typedef int32_t (*out_function)(thalweg_stack *, uint64_t, thalweg_stack_datagram *);

int main(int count, char **words) {
  void *library = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) return 2;
  create_function create = (create_function)dlsym(library, "thalweg_stack_create");
  out_function out = (out_function)dlsym(library, "thalweg_stack_datagram_out");
  thalweg_stack_options options = {
      .role = THALWEG_STACK_CLIENT,
      .seed = {7},
      .controller = "cubic",
      .initial_window = 14000,
      .initial_mtu = 1400,
      .max_mtu = 1400,
      .max_ack_delay_ns = 25000000};
  char problem[256] = "";
  thalweg_stack *stack = create(&options, 0, problem, sizeof problem);
  if (!stack) return fprintf(stderr, "%s\n", problem), 1;
  uint8_t data[1400];
  thalweg_stack_datagram datagram = {.data = data, .length = sizeof data};
  if (out(stack, 0, &datagram) != 1) return 1;
  fwrite(data, 1, datagram.length, stdout);
  return 0;
}
