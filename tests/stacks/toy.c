/* A stack that is as small as can be, and, with FAULT defined, does something wrong.
 *
 * A connection: HELLO and its answer; then data of one stream in packets of at most 1000 bytes, WINDOW of them in flight,
 * each acknowledged, none sent again: paths of the tests lose nothing. The fault comes with the 20th datagram that an end
 * receives, if no other moment is said.
 */
#define _POSIX_C_SOURCE 200809L

#include "thalweg_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FAULT
#define FAULT 0
#endif
#define SEGV 1
#define ABORT 2
#define LOOP 3
#define PAST 4
#define ENDLESS 5
#define PRINT 6
#define NO_SYMBOL 7
#define OTHER_ABI 8
#define LEAK 9
#define EXIT 10
#define CRASH_ON_LOAD 11
#define LOOP_ON_LOAD 12
#define TOO_LONG 13
#define SAYS_SO 14
#define REFUSES 15
#define CRASH_AT_END 16
#define REMEMBERS 17
#define STUCK_TIMER 18
#define BAD_STREAM 19
#define PRINT_UNFLUSHED 20
#define FORK 21
#define FORK_DAEMON 22
#define FORK_AND_ABORT 23
#define FORK_DAEMON_AND_ABORT 24
#define SHOUTS 25
#define MORE 26
#define ENDS_EARLY 27
#define ENDS_TWICE 28
#define KNOWS 29

enum { HELLO = 1, HELLO_BACK, DATA, ACK, BYE, BYE_BACK };

typedef struct {
  uint8_t kind, fin;
  uint16_t bytes;
} packet;

struct thalweg_stack {
  uint32_t role, window;
  int32_t status;
  int hello, bye, acks, received;
  uint64_t to_send, in_flight, arrived;
  int fin, fin_arrived, fin_sent, opened;
  uint64_t now, written;
  int has_written;
  const char *fault;
};

static int remembered;
/* What the server has taken, which the client of the same process learns by no datagram. */
static uint64_t served;
static int *volatile nowhere;

#if FAULT == CRASH_ON_LOAD || FAULT == LOOP_ON_LOAD
__attribute__((constructor)) static void loaded(void) {
  if (FAULT == CRASH_ON_LOAD) *nowhere = 1;
  for (volatile int forever = 1; forever;) {}
}
#endif

const thalweg_stack_info *thalweg_stack_describe(void) {
  static const thalweg_stack_info info = {
      .abi = FAULT == OTHER_ABI ? 99 : THALWEG_STACK_ABI,
      .max_streams = 1,
      .name = "toy",
      .version = "1",
      .controllers = "fixed, double",
  };
  return &info;
}

thalweg_stack *thalweg_stack_create(const thalweg_stack_options *options, uint64_t now, char *problem, size_t room) {
  if (FAULT == REFUSES) {
    snprintf(problem, room, "it is not in the mood");
    return NULL;
  }
  thalweg_stack *stack = calloc(1, sizeof *stack);
  stack->role = options->role;
  stack->window = strcmp(options->controller, "double") ? 10 : 20;
  if (FAULT == REMEMBERS) stack->window += (uint32_t)remembered++ / 2;
  stack->hello = options->role == THALWEG_STACK_CLIENT;
  stack->now = now;
  return stack;
}

void thalweg_stack_destroy(thalweg_stack *stack) {
  if (FAULT == CRASH_AT_END) abort();
  free(stack);
}

/* Forks a process that keeps the descriptors of this one, for longer than a test may take. */
static void leave_process(int is_daemon) {
  pid_t forked = fork();
  if (forked) {
    fprintf(stderr, "toy: forked process %ld\n", (long)forked);
    return;
  }
  if (is_daemon) setsid();
  alarm(150);
  for (;;) pause();
}

static void misbehave(thalweg_stack *stack) {
  if (stack->received != 20) return;
  switch (FAULT) {
  case SEGV: *nowhere = 1; break;
  case ABORT: fprintf(stderr, "toy: assertion failed: window > 0\n"); abort();
  case LOOP: for (volatile int forever = 1; forever;) {} break;
  case PRINT: printf("debug: got the 20th\n"); fflush(stdout); break;
  case PRINT_UNFLUSHED: printf("debug: got the 20th\n"); break;
  case EXIT: exit(3);
  case FORK: leave_process(0); break;
  case FORK_DAEMON: leave_process(1); break;
  case FORK_AND_ABORT: leave_process(0); abort();
  case FORK_DAEMON_AND_ABORT: leave_process(1); abort();
  case LEAK: while (malloc(1 << 26)) {} abort();
  }
}

int32_t thalweg_stack_datagram_in(thalweg_stack *stack, uint64_t now, uint32_t ecn, const uint8_t *data, size_t length) {
  packet in;
  (void)ecn, (void)length;
  memcpy(&in, data, sizeof in);
  stack->now = now;
  stack->received++;
  misbehave(stack);
  if ((FAULT == SAYS_SO || FAULT == SHOUTS) && stack->received == 20) return THALWEG_STACK_FAULT;
  switch (in.kind) {
  case HELLO: stack->status = THALWEG_STACK_ESTABLISHED; stack->hello = 1; break;
  case HELLO_BACK: stack->status = THALWEG_STACK_ESTABLISHED; break;
  case DATA:
    stack->arrived += in.bytes;
    stack->fin_arrived |= in.fin;
    stack->acks++;
    break;
  case ACK: stack->in_flight--; break;
  case BYE: stack->bye = 1; stack->status = THALWEG_STACK_CLOSED; break;
  case BYE_BACK: stack->status = THALWEG_STACK_CLOSED; break;
  }
  return THALWEG_STACK_OK;
}

static int32_t put(thalweg_stack_datagram *out, uint8_t kind, uint64_t bytes, int fin) {
  packet made = {.kind = kind, .fin = (uint8_t)fin, .bytes = (uint16_t)bytes};
  memset(out->data, 0, sizeof made + bytes);
  memcpy(out->data, &made, sizeof made);
  out->length = sizeof made + bytes;
  out->ecn = THALWEG_STACK_NOT_ECT;
  out->not_before = 0;
  return 1;
}

int32_t thalweg_stack_datagram_out(thalweg_stack *stack, uint64_t now, thalweg_stack_datagram *out) {
  int is_client = stack->role == THALWEG_STACK_CLIENT;
  /* "Between two events no time is taken." */
  if (stack->has_written && stack->written != now) {
    stack->fault = "the last write came with the time of another event";
    return THALWEG_STACK_FAULT;
  }
  stack->has_written = 0;
  if (FAULT == ENDLESS && stack->received >= 20) return put(out, 0, 10, 0);
  if (FAULT == TOO_LONG && stack->received >= 20) {
    put(out, 0, 10, 0);
    out->length = 9000;
    return 1;
  }
  if (stack->hello) return stack->hello = 0, put(out, is_client ? HELLO : HELLO_BACK, 0, 0);
  if (stack->acks) return stack->acks--, put(out, ACK, 0, 0);
  if (stack->bye) {
    stack->bye = 0;
    return put(out, is_client ? BYE : BYE_BACK, 0, 0);
  }
  if (stack->in_flight < stack->window && (stack->to_send || (stack->fin && !stack->fin_sent))) {
    uint64_t bytes = stack->to_send < 1000 ? stack->to_send : 1000;
    stack->to_send -= bytes;
    stack->in_flight++;
    stack->fin_sent = stack->fin && !stack->to_send;
    put(out, DATA, bytes, stack->fin_sent);
#ifdef LATER
    out->not_before = now + LATER;
#endif
    return 1;
  }
  (void)now;
  return 0;
}

uint64_t thalweg_stack_next(thalweg_stack *stack) {
  if (FAULT == PAST && stack->received >= 20) return stack->now - 1;
  if (FAULT == STUCK_TIMER && stack->received >= 20) return stack->now;
  return THALWEG_STACK_NEVER;
}

int32_t thalweg_stack_expire(thalweg_stack *stack, uint64_t now) {
  if (FAULT != PAST) stack->now = now;
  return THALWEG_STACK_OK;
}

#if FAULT != NO_SYMBOL
int64_t thalweg_stack_open(thalweg_stack *stack, uint64_t now) {
  stack->written = now;
  stack->has_written = 1;
  return stack->opened++ ? THALWEG_STACK_BLOCKED : 0;
}
#endif

int64_t thalweg_stack_write(thalweg_stack *stack, uint64_t now, uint64_t stream, uint64_t bytes, uint32_t fin) {
  (void)stream;
  stack->written = now;
  stack->has_written = 1;
  stack->to_send += bytes;
  if (stack->role == THALWEG_STACK_SERVER) served = bytes;
  stack->fin |= fin != 0;
  return (int64_t)bytes;
}

int32_t thalweg_stack_read(thalweg_stack *stack, uint64_t now, thalweg_stack_arrival *arrival) {
  (void)now;
  if (FAULT == KNOWS && stack->role == THALWEG_STACK_CLIENT) {
    arrival->stream = 0, arrival->bytes = served, arrival->fin = 1;
    return served ? served = 0, 1 : 0;
  }
  if (FAULT == ENDS_TWICE && stack->role == THALWEG_STACK_CLIENT && stack->fin_arrived == 2) {
    arrival->stream = 0, arrival->bytes = 0, arrival->fin = 1;
    return 1;
  }
  if (!stack->arrived && stack->fin_arrived != 1) return 0;
  arrival->stream = FAULT == BAD_STREAM ? UINT64_MAX : 0;
  arrival->bytes = stack->arrived;
  arrival->fin = stack->fin_arrived == 1 || FAULT == ENDS_EARLY;
  if (FAULT == MORE && stack->received >= 20) arrival->bytes = UINT64_MAX;
  stack->arrived = 0;
  stack->fin_arrived *= 2;
  return 1;
}

int32_t thalweg_stack_close(thalweg_stack *stack, uint64_t now) {
  (void)now;
  stack->bye = 1;
  return THALWEG_STACK_OK;
}

int32_t thalweg_stack_status(const thalweg_stack *stack) { return stack->status; }

int32_t thalweg_stack_probe(const thalweg_stack *stack, thalweg_stack_probes *probes) {
  probes->window = stack->window * 1000;
  probes->in_flight = stack->in_flight * 1000;
  probes->state = stack->in_flight ? "sending" : "waiting";
  return 1;
}

const char *thalweg_stack_fault(const thalweg_stack *stack) {
  if (FAULT == SHOUTS) return "\033[2Jbad\n::error::\342\200\256";
  return stack->fault ? stack->fault : "the ledger does not add up";
}
