//! Identity of the server: a self-signed certificate, which clients verify by its fingerprint (`thalweg_quic::Pinned`).

use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::crypto::ring as provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt;
use std::sync::{Arc, OnceLock};
use thalweg_quic::{Fingerprint, Pinned, SERVER_NAME};

/// Application protocol (RFC 9001 section 8.1: QUIC requires one). The number changes with the requests.
const ALPN: &[u8] = b"thalweg/1";

/// Why there are no credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CredentialsError(String);

impl CredentialsError {
    fn new(what: &str, cause: impl fmt::Display) -> Self {
        CredentialsError(format!("{what}: {cause}"))
    }
}

/// A certificate with its private key.
#[derive(Clone, Debug)]
pub struct Credentials {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Credentials {
    /// A new Ed25519 key with a certificate for it.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn make() -> Result<Self, CredentialsError> {
        let failed = |cause| CredentialsError::new("cannot create a certificate", cause);
        let key = KeyPair::generate_for(&PKCS_ED25519).map_err(failed)?;
        let params = CertificateParams::new(vec![SERVER_NAME.to_owned()]).map_err(failed)?;
        let certificate = params.self_signed(&key).map_err(failed)?;
        Ok(Credentials {
            certificate: certificate.der().to_vec(),
            key: key.serialize_der(),
        })
    }

    /// Credentials that were stored: the certificate and its key (PKCS #8), both in DER.
    ///
    /// # Errors
    /// If the key cannot be read or does not belong to the certificate.
    pub fn from_der(certificate: Vec<u8>, key: Vec<u8>) -> Result<Self, CredentialsError> {
        let credentials = Credentials { certificate, key };
        credentials.server().map(|_| credentials)
    }

    /// The certificate in DER.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }
    /// The private key in DER (PKCS #8).
    pub fn key(&self) -> &[u8] {
        &self.key
    }
    /// The fingerprint of the certificate.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }

    /// The TLS configuration of a server. No session tickets: connections share no state.
    pub(super) fn server(&self) -> Result<Arc<QuicServerConfig>, CredentialsError> {
        let failed = |cause| CredentialsError::new("the certificate cannot be used", cause);
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config =
            rustls::ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .map_err(failed)?
                .with_no_client_auth()
                .with_single_cert(vec![CertificateDer::from(self.certificate.clone())], key)
                .map_err(failed)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.send_tls13_tickets = 0;
        let config = QuicServerConfig::try_from(config)
            .map_err(|cause| CredentialsError::new("the certificate cannot be used", cause))?;
        Ok(Arc::new(config))
    }
}

/// The TLS configuration of a client that accepts one fingerprint, for clients other than [`get`](super::get).
///
/// # Errors
/// If TLS cannot be set up.
pub fn client_crypto(fingerprint: Fingerprint) -> Result<Arc<QuicClientConfig>, CredentialsError> {
    client(fingerprint).map(|(crypto, _)| crypto)
}

/// The TLS configuration of a client that accepts one fingerprint, and where it records another one.
pub(super) fn client(
    fingerprint: Fingerprint,
) -> Result<(Arc<QuicClientConfig>, Arc<OnceLock<Fingerprint>>), CredentialsError> {
    let failed = |cause| CredentialsError::new("cannot set up TLS", cause);
    let provider = Arc::new(provider::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let pinned = Pinned::new(fingerprint, algorithms, algorithms.supported_schemes());
    let other = pinned.other();
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    let config = QuicClientConfig::try_from(config)
        .map_err(|cause| CredentialsError::new("cannot set up TLS", cause))?;
    Ok((Arc::new(config), other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_credentials_are_the_same_server_and_a_foreign_key_is_refused() {
        let made = Credentials::make().unwrap();
        let (certificate, key) = (made.certificate().to_vec(), made.key().to_vec());
        let read = Credentials::from_der(certificate.clone(), key).unwrap();
        assert_eq!(read.fingerprint(), made.fingerprint());
        let foreign = Credentials::make().unwrap().key().to_vec();
        assert!(Credentials::from_der(certificate, foreign).is_err());
        assert!(Credentials::from_der(vec![1, 2, 3], vec![4]).is_err());
    }
}
