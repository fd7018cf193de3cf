/* ngtcp2 as a stack of Thalweg, with GnuTLS.
 *
 * Determinism: connection IDs and random numbers of ngtcp2 come from the seed, times from the calls. Keys of TLS come
 * from the system; each message has one length all the same (tls.c). So contents differ, sizes and times do not.
 *
 * Limits: `initial_window` and `paced` have no effect in this version of ngtcp2. After its close an end waits for three
 * probe timeouts (RFC 9000 section 10.2).
 */
#include "thalweg_stack.h"

#include <arpa/inet.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls.h"

#define EXPORT __attribute__((visibility("default")))
#define STREAMS 1024
#define WIDE ((1u << 30) - 1)

/* One stream: what is left to send, and what has arrived and was not reported yet. */
typedef struct {
  uint64_t to_send, arrived;
  int fin_wanted, fin_sent, fin_arrived, is_blocked;
} stream;

struct thalweg_stack {
  ngtcp2_conn *connection;
  ngtcp2_crypto_conn_ref reference;
  gnutls_session_t tls;
  ngtcp2_path path;
  struct sockaddr_in local, remote;
  ngtcp2_cc_algo controller;
  thalweg_stack_options options;
  uint64_t random;
  int wants_close, is_closed;
  uint64_t closed_at; /* when an end that has closed is done; 0 before its close */
  size_t burst;       /* bytes sent since the last pause */
  int64_t opened, highest;
  uint64_t now;
  char fault[160];
  stream streams[STREAMS];
};

static const char ZEROS[1 << 16];

EXPORT const thalweg_stack_info *thalweg_stack_describe(void) {
  static const thalweg_stack_info info = {
      .abi = THALWEG_STACK_ABI,
      .max_streams = STREAMS,
      .name = "ngtcp2",
      .version = NGTCP2_VERSION,
      .controllers = "cubic, reno, bbr, bbr2",
  };
  return &info;
}

/* SplitMix64. */
static uint64_t draw(uint64_t *state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

static void fill(uint64_t *state, uint8_t *to, size_t length) {
  for (size_t at = 0; at < length; at++) to[at] = (uint8_t)draw(state);
}

static void random_bytes(uint8_t *to, size_t length, const ngtcp2_rand_ctx *context) {
  fill(context->native_handle, to, length);
}

static int new_connection_id(ngtcp2_conn *connection, ngtcp2_cid *cid, uint8_t *token, size_t length, void *user) {
  thalweg_stack *stack = user;
  (void)connection;
  fill(&stack->random, cid->data, length);
  cid->datalen = length;
  fill(&stack->random, token, NGTCP2_STATELESS_RESET_TOKENLEN);
  return 0;
}

static int stream_data(
    ngtcp2_conn *connection, uint32_t flags, int64_t id, uint64_t offset, const uint8_t *data, size_t length, void *user,
    void *of_stream) {
  thalweg_stack *stack = user;
  int64_t number = id / 4;
  (void)offset, (void)data, (void)of_stream;
  if (number >= STREAMS) return NGTCP2_ERR_CALLBACK_FAILURE;
  stream *one = &stack->streams[number];
  one->arrived += length;
  if (flags & NGTCP2_STREAM_DATA_FLAG_FIN) one->fin_arrived = 1;
  if (number > stack->highest) stack->highest = number;
  ngtcp2_conn_extend_max_stream_offset(connection, id, length);
  ngtcp2_conn_extend_max_offset(connection, length);
  return 0;
}

static ngtcp2_conn *connection_of(ngtcp2_crypto_conn_ref *reference) {
  return ((thalweg_stack *)reference->user_data)->connection;
}

/* Makes the connection: a client's at once, a server's of the first datagram. */
static int make(thalweg_stack *stack, const ngtcp2_pkt_hd *first, uint64_t now) {
  const thalweg_stack_options *options = &stack->options;
  ngtcp2_callbacks calls = {
      .client_initial = ngtcp2_crypto_client_initial_cb,
      .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
      .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
      .encrypt = ngtcp2_crypto_encrypt_cb,
      .decrypt = ngtcp2_crypto_decrypt_cb,
      .hp_mask = ngtcp2_crypto_hp_mask_cb,
      .recv_stream_data = stream_data,
      .recv_retry = ngtcp2_crypto_recv_retry_cb,
      .rand = random_bytes,
      .get_new_connection_id = new_connection_id,
      .update_key = ngtcp2_crypto_update_key_cb,
      .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
      .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
      .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
      .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
  };
  ngtcp2_settings settings;
  ngtcp2_settings_default(&settings);
  settings.cc_algo = stack->controller;
  settings.initial_ts = now;
  settings.max_tx_udp_payload_size = options->max_mtu;
  settings.rand_ctx.native_handle = &stack->random;
  settings.ack_thresh = options->ack_every;
  settings.handshake_timeout = UINT64_MAX;
  ngtcp2_transport_params params;
  ngtcp2_transport_params_default(&params);
  params.initial_max_stream_data_bidi_local = params.initial_max_stream_data_bidi_remote = WIDE;
  params.initial_max_data = options->receive_window ? options->receive_window : WIDE;
  params.initial_max_streams_bidi = STREAMS;
  params.max_idle_timeout = 0;
  params.max_ack_delay = options->max_ack_delay_ns / NGTCP2_MILLISECONDS * NGTCP2_MILLISECONDS;
  ngtcp2_cid own = {.datalen = 8}, other = {.datalen = 18};
  fill(&stack->random, own.data, own.datalen);
  int failed;
  if (first) {
    params.original_dcid = first->dcid;
    failed = ngtcp2_conn_server_new(
        &stack->connection, &first->scid, &own, &stack->path, first->version, &calls, &settings, &params, NULL, stack);
  } else {
    fill(&stack->random, other.data, other.datalen);
    failed = ngtcp2_conn_client_new(
        &stack->connection, &other, &own, &stack->path, NGTCP2_PROTO_VER_V1, &calls, &settings, &params, NULL, stack);
  }
  if (!failed) ngtcp2_conn_set_tls_native_handle(stack->connection, stack->tls);
  return failed;
}

EXPORT thalweg_stack *
thalweg_stack_create(const thalweg_stack_options *options, uint64_t now, char *problem, size_t room) {
  static const struct { const char *name; ngtcp2_cc_algo algorithm; } controllers[] = {
      {"cubic", NGTCP2_CC_ALGO_CUBIC}, {"reno", NGTCP2_CC_ALGO_RENO}, {"bbr", NGTCP2_CC_ALGO_BBR},
      {"bbr2", NGTCP2_CC_ALGO_BBR2}};
  size_t found = 0;
  while (found < 4 && strcmp(options->controller, controllers[found].name)) found++;
  if (found == 4) {
    snprintf(problem, room, "\"%s\" is not a controller of ngtcp2; accepted, without options: cubic, reno, bbr, bbr2", options->controller);
    return NULL;
  }
  thalweg_stack *stack = calloc(1, sizeof *stack);
  if (!stack) return NULL;
  int is_server = options->role == THALWEG_STACK_SERVER;
  stack->options = *options;
  stack->controller = controllers[found].algorithm;
  stack->now = now;
  memcpy(&stack->random, options->seed, sizeof stack->random);
  /* Addresses reserved for documentation (RFC 5737). */
  uint32_t client = 0xc0000201, server = 0xc0000202;
  stack->local = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(4433)};
  stack->remote = stack->local;
  stack->local.sin_addr.s_addr = htonl(is_server ? server : client);
  stack->remote.sin_addr.s_addr = htonl(is_server ? client : server);
  stack->path.local = (ngtcp2_addr){(struct sockaddr *)&stack->local, sizeof stack->local};
  stack->path.remote = (ngtcp2_addr){(struct sockaddr *)&stack->remote, sizeof stack->remote};
  stack->reference = (ngtcp2_crypto_conn_ref){connection_of, stack};
  stack->tls = tls_session(is_server, &stack->reference);
  if (!stack->tls || (!is_server && make(stack, NULL, now))) {
    snprintf(problem, room, "GnuTLS or ngtcp2 cannot be set up");
    thalweg_stack_destroy(stack);
    return NULL;
  }
  return stack;
}

EXPORT void thalweg_stack_destroy(thalweg_stack *stack) {
  if (stack->connection) ngtcp2_conn_del(stack->connection);
  if (stack->tls) gnutls_deinit(stack->tls);
  free(stack);
}

/* What an error of ngtcp2 means: the end of the connection, which is a fault unless the peer has closed (RFC 9000
 * section 10.2) or nothing has come for long (section 10.1). */
static int32_t end(thalweg_stack *stack, int error) {
  stack->is_closed = 1;
  if (error == NGTCP2_ERR_DRAINING || error == NGTCP2_ERR_CLOSING || error == NGTCP2_ERR_IDLE_CLOSE)
    return THALWEG_STACK_OK;
  snprintf(stack->fault, sizeof stack->fault, "%s", ngtcp2_strerror(error));
  return THALWEG_STACK_FAULT;
}

EXPORT int32_t
thalweg_stack_datagram_in(thalweg_stack *stack, uint64_t now, uint32_t ecn, const uint8_t *data, size_t length) {
  stack->now = now;
  if (stack->is_closed || stack->closed_at) return THALWEG_STACK_OK;
  if (!stack->connection) {
    ngtcp2_pkt_hd first;
    if (ngtcp2_accept(&first, data, length)) return THALWEG_STACK_OK;
    int failed = make(stack, &first, now);
    if (failed) return end(stack, failed);
  }
  ngtcp2_pkt_info info = {.ecn = ecn};
  int error = ngtcp2_conn_read_pkt(stack->connection, &stack->path, &info, data, length, now);
  return error ? end(stack, error) : THALWEG_STACK_OK;
}

/* A stream that has something to send and was not found blocked; -1 if there is none. */
static int64_t next_stream(thalweg_stack *stack) {
  for (int64_t number = 0; number <= stack->highest; number++) {
    stream *one = &stack->streams[number];
    if (!one->is_blocked && (one->to_send || (one->fin_wanted && !one->fin_sent))) return number;
  }
  return -1;
}

/* A packet with as much of the streams as it holds: its length, 0 if nothing may be sent, or an error. */
static ngtcp2_ssize
packet(thalweg_stack *stack, ngtcp2_pkt_info *info, thalweg_stack_datagram *out, uint64_t now) {
  for (;;) {
    int64_t number = next_stream(stack);
    stream *one = number < 0 ? NULL : &stack->streams[number];
    uint64_t offered = one ? one->to_send : 0;
    if (offered > sizeof ZEROS) offered = sizeof ZEROS;
    uint32_t flags = one ? NGTCP2_WRITE_STREAM_FLAG_MORE : NGTCP2_WRITE_STREAM_FLAG_NONE;
    int is_last = one && one->fin_wanted && offered == one->to_send;
    if (is_last) flags |= NGTCP2_WRITE_STREAM_FLAG_FIN;
    ngtcp2_vec content = {(uint8_t *)ZEROS, offered};
    ngtcp2_ssize taken = -1;
    ngtcp2_ssize length = ngtcp2_conn_writev_stream(
        stack->connection, &stack->path, info, out->data, out->length, &taken, flags, one ? number * 4 : -1,
        offered ? &content : NULL, offered ? 1 : 0, now);
    if (one && taken >= 0) {
      one->to_send -= (uint64_t)taken;
      if (is_last && !one->to_send) one->fin_sent = 1;
    }
    if (length == NGTCP2_ERR_WRITE_MORE) continue;
    if (one && (length == NGTCP2_ERR_STREAM_DATA_BLOCKED || length == NGTCP2_ERR_STREAM_SHUT_WR)) {
      one->is_blocked = 1;
      continue;
    }
    return length;
  }
}

EXPORT int32_t thalweg_stack_datagram_out(thalweg_stack *stack, uint64_t now, thalweg_stack_datagram *out) {
  ngtcp2_pkt_info info = {0};
  stack->now = now;
  if (!stack->connection || stack->is_closed || stack->closed_at) return 0;
  ngtcp2_ssize length = 0;
  if (stack->wants_close) {
    ngtcp2_connection_close_error none;
    ngtcp2_connection_close_error_default(&none);
    ngtcp2_connection_close_error_set_application_error(&none, 0, NULL, 0);
    length = ngtcp2_conn_write_connection_close(
        stack->connection, &stack->path, &info, out->data, out->length, &none, now);
    stack->closed_at = now + 3 * ngtcp2_conn_get_pto(stack->connection);
  } else if (stack->burst < ngtcp2_conn_get_send_quantum(stack->connection)) {
    length = packet(stack, &info, out, now);
  }
  if (length <= 0) {
    if (length < 0 && end(stack, (int)length)) return THALWEG_STACK_FAULT;
    if (stack->burst) ngtcp2_conn_update_pkt_tx_time(stack->connection, now);
    stack->burst = 0;
    for (int64_t number = 0; number <= stack->highest; number++) stack->streams[number].is_blocked = 0;
    return 0;
  }
  stack->burst += (size_t)length;
  out->length = (size_t)length;
  out->ecn = info.ecn;
  out->not_before = 0;
  return 1;
}

EXPORT uint64_t thalweg_stack_next(thalweg_stack *stack) {
  if (!stack->connection || stack->is_closed) return THALWEG_STACK_NEVER;
  return stack->closed_at ? stack->closed_at : ngtcp2_conn_get_expiry(stack->connection);
}

EXPORT int32_t thalweg_stack_expire(thalweg_stack *stack, uint64_t now) {
  stack->now = now;
  if (!stack->connection || stack->is_closed) return THALWEG_STACK_OK;
  if (stack->closed_at) {
    stack->is_closed = now >= stack->closed_at;
    return THALWEG_STACK_OK;
  }
  int error = ngtcp2_conn_handle_expiry(stack->connection, now);
  return error ? end(stack, error) : THALWEG_STACK_OK;
}

EXPORT int64_t thalweg_stack_open(thalweg_stack *stack, uint64_t now) {
  int64_t id;
  (void)now;
  if (stack->opened == STREAMS || ngtcp2_conn_open_bidi_stream(stack->connection, &id, NULL))
    return THALWEG_STACK_BLOCKED;
  return stack->opened++;
}

EXPORT int64_t
thalweg_stack_write(thalweg_stack *stack, uint64_t now, uint64_t number, uint64_t bytes, uint32_t fin) {
  (void)now;
  if (number >= STREAMS) {
    snprintf(stack->fault, sizeof stack->fault, "stream %llu is none of %d", (unsigned long long)number, STREAMS);
    return THALWEG_STACK_FAULT;
  }
  stack->streams[number].to_send += bytes;
  stack->streams[number].fin_wanted |= fin != 0;
  if ((int64_t)number > stack->highest) stack->highest = (int64_t)number;
  return (int64_t)bytes;
}

EXPORT int32_t thalweg_stack_read(thalweg_stack *stack, uint64_t now, thalweg_stack_arrival *arrival) {
  (void)now;
  for (int64_t number = 0; number <= stack->highest; number++) {
    stream *one = &stack->streams[number];
    if (!one->arrived && one->fin_arrived != 1) continue;
    arrival->stream = (uint64_t)number;
    arrival->bytes = one->arrived;
    arrival->fin = one->fin_arrived == 1;
    one->arrived = 0;
    one->fin_arrived *= 2;
    return 1;
  }
  return 0;
}

EXPORT int32_t thalweg_stack_close(thalweg_stack *stack, uint64_t now) {
  (void)now;
  stack->wants_close = 1;
  return THALWEG_STACK_OK;
}

EXPORT int32_t thalweg_stack_status(const thalweg_stack *stack) {
  if (stack->is_closed) return THALWEG_STACK_CLOSED;
  int is_done = stack->connection && ngtcp2_conn_get_handshake_completed(stack->connection);
  return is_done ? THALWEG_STACK_ESTABLISHED : THALWEG_STACK_CONNECTING;
}

EXPORT int32_t thalweg_stack_probe(const thalweg_stack *stack, thalweg_stack_probes *probes) {
  if (!stack->connection) return 0;
  ngtcp2_conn_stat now;
  ngtcp2_conn_get_conn_stat(stack->connection, &now);
  probes->window = now.cwnd;
  probes->in_flight = now.bytes_in_flight;
  if (now.first_rtt_sample_ts != UINT64_MAX) {
    probes->smoothed_rtt_ns = now.smoothed_rtt;
    probes->latest_rtt_ns = now.latest_rtt;
  }
  /* In bytes for each nanosecond. */
  if (now.pacing_rate > 0) probes->pacing_rate = (uint64_t)(now.pacing_rate * 8e9);
  probes->state = now.cwnd < now.ssthresh ? "slow_start" : "congestion_avoidance";
  return 1;
}

EXPORT const char *thalweg_stack_fault(const thalweg_stack *stack) { return stack->fault; }
