/* TLS 1.3 with one cipher, X25519 and Ed25519: each message has one length, whatever keys are drawn. No tickets. */
#include "tls.h"

#include <ngtcp2/ngtcp2_crypto_gnutls.h>

#include "identity.h"

static const char PRIORITIES[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:"
    "-SIGN-ALL:+SIGN-EDDSA-ED25519:%DISABLE_TLS13_COMPAT_MODE";

static gnutls_certificate_credentials_t credentials(void) {
  static gnutls_certificate_credentials_t made;
  if (made) return made;
  gnutls_datum_t key = {(unsigned char *)KEY, sizeof KEY - 1};
  gnutls_datum_t certificate = {(unsigned char *)CERTIFICATE, sizeof CERTIFICATE - 1};
  if (gnutls_certificate_allocate_credentials(&made) ||
      gnutls_certificate_set_x509_key_mem(made, &certificate, &key, GNUTLS_X509_FMT_PEM))
    return NULL;
  return made;
}

gnutls_session_t tls_session(int is_server, ngtcp2_crypto_conn_ref *reference) {
  static gnutls_datum_t alpn = {(unsigned char *)"thalweg", 7};
  gnutls_session_t session;
  unsigned flags = is_server ? GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET | GNUTLS_NO_TICKETS : GNUTLS_CLIENT;
  if (gnutls_init(&session, flags | GNUTLS_NO_END_OF_EARLY_DATA)) return NULL;
  int failed = gnutls_priority_set_direct(session, PRIORITIES, NULL);
  failed = failed || (is_server ? ngtcp2_crypto_gnutls_configure_server_session(session)
                                : ngtcp2_crypto_gnutls_configure_client_session(session));
  gnutls_session_set_ptr(session, reference);
  failed = failed || gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials());
  failed = failed || gnutls_alpn_set_protocols(session, &alpn, 1, GNUTLS_ALPN_MANDATORY);
  if (failed) {
    gnutls_deinit(session);
    return NULL;
  }
  return session;
}
