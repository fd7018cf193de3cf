//! Who the server is: a certificate that it made itself, known to clients by its fingerprint.
//!
//! The fingerprint is the SHA-256 of the certificate. A client accepts the one certificate that has it, whoever
//! issued it and whatever names it bears; the handshake proves that the server holds its key.

use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use ring::digest::{SHA256, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// Application protocol (RFC 9001 section 8.1: QUIC requires one). The number changes with the requests.
const ALPN: &[u8] = b"thalweg/1";
/// Name in certificates that we make, and in the client's request.
pub(super) const SERVER_NAME: &str = "thalweg";

/// SHA-256 of a certificate: 64 hexadecimal digits, where case, colons and spaces do not matter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    fn of(certificate: &[u8]) -> Fingerprint {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Fingerprint(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// A text that is not a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no fingerprint; accepted: the 64 hexadecimal digits that the server prints")]
pub struct FingerprintError(String);

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let digits = text.chars().filter(|c| *c != ':' && !c.is_whitespace());
        let nibbles: Option<Vec<u8>> = digits
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect();
        let mut bytes = [0; 32];
        match nibbles {
            Some(nibbles) if nibbles.len() == 64 => {
                for (byte, pair) in bytes.iter_mut().zip(nibbles.chunks_exact(2)) {
                    *byte = pair[0] << 4 | pair[1];
                }
                Ok(Fingerprint(bytes))
            }
            _ => Err(FingerprintError(text.to_owned())),
        }
    }
}

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
    /// If the system gives no random numbers.
    pub fn make() -> Result<Self, CredentialsError> {
        let failed = |cause| CredentialsError::new("cannot make a certificate", cause);
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
    /// What clients know the certificate by.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }

    /// The TLS configuration of a server. No session tickets: every connection starts from nothing.
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

/// The TLS configuration of a client that accepts one fingerprint, and where it notes another that it has seen.
pub(super) fn client(
    fingerprint: Fingerprint,
) -> Result<(Arc<QuicClientConfig>, Arc<OnceLock<Fingerprint>>), CredentialsError> {
    let failed = |cause| CredentialsError::new("cannot set TLS up", cause);
    let provider = Arc::new(provider::default_provider());
    let other = Arc::new(OnceLock::new());
    let pinned = Pinned {
        fingerprint,
        other: Arc::clone(&other),
        provider: Arc::clone(&provider),
    };
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    let config = QuicClientConfig::try_from(config)
        .map_err(|cause| CredentialsError::new("cannot set TLS up", cause))?;
    Ok((Arc::new(config), other))
}

#[derive(Debug)]
struct Pinned {
    fingerprint: Fingerprint,
    other: Arc<OnceLock<Fingerprint>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let seen = Fingerprint::of(end_entity);
        if seen == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        let _ = self.other.set(seen);
        Err(Error::InvalidCertificate(
            CertificateError::ApplicationVerificationFailure,
        ))
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // QUIC has no TLS 1.2 (RFC 9001 section 4.2).
        Err(Error::General("TLS 1.2 is not offered".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_back_from_what_is_printed_with_or_without_colons() {
        let fingerprint = Credentials::make().unwrap().fingerprint();
        let text = fingerprint.to_string();
        assert_eq!(text.len(), 64);
        assert_eq!(text.parse(), Ok(fingerprint));
        let pairs: Vec<String> = (0..32)
            .map(|i| text[2 * i..2 * i + 2].to_uppercase())
            .collect();
        assert_eq!(pairs.join(":").parse(), Ok(fingerprint));
        for wrong in [
            "",
            "12",
            &text[1..],
            &format!("{text}0"),
            &text.replace('0', "g")[..63],
        ] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_fingerprint_of_no_bytes_is_that_of_fips_180_4() {
        // SHA-256 of the empty message, from the NIST examples.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Fingerprint::of(&[]).to_string(), empty);
    }

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
