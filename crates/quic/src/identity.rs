//! Identity of the server: an Ed25519 certificate created on first use, and a client that accepts only that one.
//!
//! Ed25519 signatures and the X25519 key exchange have a fixed length, and the serial number of the
//! certificate is fixed: keys differ between processes, but the sizes of the handshake do not.
//! Session tickets are off for the same reason.

use crate::pinned::{Fingerprint, Pinned};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};
use rustls::SignatureScheme;
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::sync::{Arc, OnceLock};

/// Name of the server in its certificate and in the client's request.
pub const SERVER_NAME: &str = "thalweg";
/// Application protocol (RFC 9001 section 8.1: QUIC requires one).
const ALPN: &[u8] = b"thalweg";

/// The TLS configurations of both sides.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) client: Arc<QuicClientConfig>,
    pub(crate) server: Arc<QuicServerConfig>,
}

/// The identity of this process. `None` if the cryptographic library cannot create a key, which happens only
/// if the system provides no random numbers.
pub(crate) fn identity() -> Option<&'static Identity> {
    static IDENTITY: OnceLock<Option<Identity>> = OnceLock::new();
    IDENTITY.get_or_init(make).as_ref()
}

/// Whether the stack can be used: not if the system provides no random numbers for keys.
pub fn is_available() -> bool {
    identity().is_some()
}

fn make() -> Option<Identity> {
    let key = KeyPair::generate_for(&PKCS_ED25519).ok()?;
    let mut params = CertificateParams::new(vec![SERVER_NAME.to_owned()]).ok()?;
    params.serial_number = Some(SerialNumber::from(1));
    let certificate: CertificateDer<'static> = params.self_signed(&key).ok()?.into();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(CryptoProvider {
        cipher_suites: vec![provider::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![provider::kx_group::X25519],
        ..provider::default_provider()
    });
    let tls13 = &[&rustls::version::TLS13];
    let pinned = Arc::new(Pinned::new(
        Fingerprint::of(&certificate),
        provider.signature_verification_algorithms,
        vec![SignatureScheme::ED25519],
    ));
    let mut client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(tls13)
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_no_client_auth();
    client.alpn_protocols = vec![ALPN.to_vec()];
    client.resumption = rustls::client::Resumption::disabled();
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(tls13)
        .ok()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .ok()?;
    server.alpn_protocols = vec![ALPN.to_vec()];
    server.send_tls13_tickets = 0;
    Some(Identity {
        client: Arc::new(QuicClientConfig::try_from(client).ok()?),
        server: Arc::new(QuicServerConfig::try_from(server).ok()?),
    })
}
