//! TLS for this service's own listeners. A renewed certificate is taken up without a restart.

use std::{
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tracing::{debug, info, warn};

/// How often the files are looked at.
const RELOAD_EVERY: Duration = Duration::from_secs(10);

/// Where the certificate and its key are, both in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, and behind it those that lead to its authority.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Why there is no TLS with these files.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or is not what it should be.
    #[error("cannot read {}: {reason}", path.display())]
    File { path: PathBuf, reason: String },
    /// The key and the certificate do not belong together, or are of a kind that is not supported.
    #[error("cannot use the certificate: {0}")]
    Certificate(#[from] rustls::Error),
}

/// Speaks TLS with the certificate that is in its files.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    current: ArcSwap<ServerConfig>,
    /// When the files that are in use were written.
    written: Mutex<[Option<SystemTime>; 2]>,
}

impl Tls {
    /// Reads the files.
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let written = Mutex::new(files.written());
        Ok(Self { current: ArcSwap::from_pointee(files.read()?), files, written })
    }

    /// Greets a client, within this time.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
        within: Duration,
    ) -> io::Result<TlsStream<TcpStream>> {
        let acceptor = TlsAcceptor::from(self.current.load_full());
        timeout(within, acceptor.accept(stream)).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Looks at the files until told to stop, and takes up what has changed.
    pub(crate) async fn reload_until(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {}
                () = sleep(RELOAD_EVERY) => self.reload(),
            }
        }
    }

    /// Takes up files that have changed. What cannot be used changes nothing, and is tried again once it is written anew.
    fn reload(&self) {
        let written = self.files.written();
        {
            let mut known = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if *known == written {
                return;
            }
            *known = written;
        }
        match self.files.read() {
            Ok(config) => {
                self.current.store(Arc::new(config));
                info!("the TLS certificate has changed and is in use");
            }
            // The two files are seldom written at the same moment: the other one follows.
            Err(error) => warn!(%error, "changed TLS certificate not usable; continuing with the one before"),
        }
    }
}

impl TlsFiles {
    fn written(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|path| fs::metadata(path).and_then(|file| file.modified()).ok())
    }

    fn read(&self) -> Result<ServerConfig, TlsError> {
        let unreadable = |path: &PathBuf, reason: String| TlsError::File { path: path.clone(), reason };
        let failed = |error: rustls::pki_types::pem::Error| unreadable(&self.certificate, error.to_string());
        let certificates = CertificateDer::pem_file_iter(&self.certificate).map_err(failed)?;
        let chain = certificates.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        if chain.is_empty() {
            return Err(unreadable(&self.certificate, "it contains no certificate in PEM".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key);
        let key = key.map_err(|error| unreadable(&self.key, error.to_string()))?;
        debug!(certificates = chain.len(), "TLS certificate read");
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let mut config = builder
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rcgen::{CertifiedKey, generate_simple_self_signed};

    use super::*;

    fn write(folder: &Path) -> TlsFiles {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let files = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
        fs::write(&files.certificate, pem("CERTIFICATE", cert.der())).unwrap();
        fs::write(&files.key, pem("PRIVATE KEY", &signing_key.serialize_der())).unwrap();
        files
    }

    fn pem(label: &str, der: &[u8]) -> String {
        let text = data_encoding::BASE64.encode(der);
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
    }

    fn touch(path: &Path, seconds: u64) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn a_renewed_certificate_is_taken_up_and_a_broken_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let files = write(folder.path());
        let tls = Tls::load(files.clone()).unwrap();
        let first = tls.current.load_full();
        tls.reload();
        assert!(Arc::ptr_eq(&first, &tls.current.load_full()), "nothing has changed");
        // A key that does not belong to the certificate: renewal is half done.
        let elsewhere = tempfile::tempdir().unwrap();
        fs::copy(write(elsewhere.path()).key, &files.key).unwrap();
        touch(&files.key, 1);
        tls.reload();
        assert!(Arc::ptr_eq(&first, &tls.current.load_full()), "the one before stays");
        fs::copy(elsewhere.path().join("cert.pem"), &files.certificate).unwrap();
        touch(&files.certificate, 2);
        tls.reload();
        assert!(!Arc::ptr_eq(&first, &tls.current.load_full()));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let files = write(folder.path());
        fs::write(&files.certificate, "not a certificate").unwrap();
        let error = Tls::load(files.clone()).unwrap_err().to_string();
        assert!(error.contains("cert.pem") && error.contains("no certificate"), "{error}");
        let missing = TlsFiles { key: folder.path().join("none.pem"), ..write(folder.path()) };
        assert!(Tls::load(missing).unwrap_err().to_string().contains("none.pem"));
    }
}
