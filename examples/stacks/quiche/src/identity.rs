//! The identity of the server: public, and the same in every run, so that the handshake has one length.

use boring::error::ErrorStack;
use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod, SslOptions};
use boring::x509::X509;

/// Name of the server.
pub(crate) const SERVER_NAME: &str = "thalweg";

const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g
-----END PRIVATE KEY-----
";
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----
MIHSMIGFoAMCAQICAQEwBQYDK2VwMBIxEDAOBgNVBAMMB3RoYWx3ZWcwIBcNMDAw
MTAxMDAwMDAwWhgPMjEwMDAxMDEwMDAwMDBaMBIxEDAOBgNVBAMMB3RoYWx3ZWcw
KjAFBgMrZXADIQB5tVYuj+ZU+UB4sRLoqYunkB+FOuaVvtfg45ELrQSWZDAFBgMr
ZXADQQDMTIY5D3/1mMccad6KSgNhJw4vSmwBecwGnRsG5ZTCytPhANEBPKQ1/cqi
mxHB0QqZUrSldi0ihAdc1sNYi68D
-----END CERTIFICATE-----
";

/// TLS with keys and signatures of one length, and without session tickets.
pub(crate) fn tls() -> Result<SslContextBuilder, ErrorStack> {
    let mut tls = SslContextBuilder::new(SslMethod::tls())?;
    tls.set_private_key(&*PKey::private_key_from_pem(KEY.as_bytes())?)?;
    tls.set_certificate(&*X509::from_pem(CERTIFICATE.as_bytes())?)?;
    tls.set_sigalgs_list("ed25519")?;
    tls.set_curves_list("X25519")?;
    tls.set_options(SslOptions::NO_TICKET);
    Ok(tls)
}
