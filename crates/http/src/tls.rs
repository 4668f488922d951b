//! Whom to believe: the system's certificates, or the bundled ones where the system has none.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// The TLS setting of every connection out.
pub fn client_config() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots()).with_no_client_auth())
}

fn roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        // Containers without a certificate package are common, and those we talk to use public authorities.
        tracing::warn!(
            problems = found.errors.len(),
            "the system has no certificate authorities; using the bundled ones"
        );
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
