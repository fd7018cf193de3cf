/* The TLS session of one end. */
#ifndef TLS_H
#define TLS_H

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2_crypto.h>

/* A session that knows its connection by `reference`; NULL if it cannot be. */
gnutls_session_t tls_session(int is_server, ngtcp2_crypto_conn_ref *reference);

#endif
