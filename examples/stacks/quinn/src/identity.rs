//! The TLS configurations of both ends: a certificate that is the same in every run, and a client that accepts any.
//!
//! Nothing is kept secret here. The key is public, so that the certificate, signatures included, has one length.

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use std::sync::{Arc, OnceLock};

/// Name of the server.
pub(crate) const SERVER_NAME: &str = "thalweg";
const ALPN: &[u8] = b"thalweg";
/// An Ed25519 key in PKCS #8 (RFC 8410 section 7): a header, and 32 bytes.
const KEY_HEADER: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// The TLS configurations of both ends.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) client: Arc<QuicClientConfig>,
    pub(crate) server: Arc<QuicServerConfig>,
}

/// The configurations of this process.
pub(crate) fn identity() -> Result<Identity, String> {
    static IDENTITY: OnceLock<Result<Identity, String>> = OnceLock::new();
    IDENTITY
        .get_or_init(|| make().map_err(|error| error.to_string()))
        .clone()
}

fn make() -> Result<Identity, Box<dyn std::error::Error>> {
    let key: Vec<u8> = KEY_HEADER.iter().copied().chain(1..=32).collect();
    let key = PrivatePkcs8KeyDer::from(key);
    let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ED25519)?;
    let mut params = CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
    params.serial_number = Some(SerialNumber::from(1));
    let certificate: CertificateDer<'static> = params.self_signed(&pair)?.into();
    let provider = Arc::new(CryptoProvider {
        cipher_suites: vec![provider::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![provider::kx_group::X25519],
        ..provider::default_provider()
    });
    let tls13 = &[&rustls::version::TLS13];
    let mut client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(tls13)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone))
        .with_no_client_auth();
    client.alpn_protocols = vec![ALPN.to_vec()];
    client.resumption = rustls::client::Resumption::disabled();
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(tls13)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::from(key))?;
    server.alpn_protocols = vec![ALPN.to_vec()];
    server.send_tls13_tickets = 0;
    Ok(Identity {
        client: Arc::new(QuicClientConfig::try_from(client)?),
        server: Arc::new(QuicServerConfig::try_from(server)?),
    })
}

/// Accepts every server: there is but one, in the same process.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
