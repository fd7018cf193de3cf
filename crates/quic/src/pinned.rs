//! Certificate pinning: a fingerprint, and a client that accepts no other.
//!
//! The fingerprint is the SHA-256 of the certificate. A client accepts only the certificate that has it, whatever
//! its issuer and names; the handshake proves that the server holds its key.

use ring::digest::{SHA256, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// SHA-256 of a certificate: 64 hexadecimal digits; case, colons and spaces are ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Fingerprint {
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
#[error("\"{0}\" is not a fingerprint; accepted: the 64 hexadecimal digits that the server prints")]
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

/// The verifier of a client that accepts one certificate.
#[derive(Debug)]
pub struct Pinned {
    fingerprint: Fingerprint,
    other: Arc<OnceLock<Fingerprint>>,
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
}

impl Pinned {
    /// Accepts the certificate with this fingerprint, and offers these signature schemes.
    pub fn new(
        fingerprint: Fingerprint,
        algorithms: WebPkiSupportedAlgorithms,
        schemes: Vec<SignatureScheme>,
    ) -> Pinned {
        Pinned {
            fingerprint,
            other: Arc::default(),
            algorithms,
            schemes,
        }
    }

    /// Where it records the fingerprint of a certificate that it has refused.
    pub fn other(&self) -> Arc<OnceLock<Fingerprint>> {
        Arc::clone(&self.other)
    }
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
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_back_from_what_is_printed_with_or_without_colons() {
        let fingerprint = Fingerprint::of(b"a certificate");
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
}
