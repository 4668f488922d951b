//! Encrypted receivers: believed only with a certificate for their own name.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;
use tollgate_courier::HttpCourier;
use tollgate_engine::ports::DeliveryError;

use crate::support::{Names, client_config, send, settings};

#[tokio::test]
async fn a_receiver_is_believed_by_its_certificate() {
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["shop.example".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &authority).unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            drop(stream.read(&mut [0; 4096]).await);
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await);
        }
    });

    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let names =
        Names::default().with("shop.example", &[&["127.0.0.1"]]).with("other.example", &[&["127.0.0.1"]]);
    let names = Arc::new(names);
    let believing = HttpCourier::with(settings(true), names.clone(), client_config(roots));
    let doubting = HttpCourier::with(settings(true), names, client_config(RootCertStore::empty()));
    for (courier, host, is_believed) in [
        (&believing, "shop.example", true),
        (&believing, "shop.example.", true),
        (&believing, "127.0.0.1", true),
        (&believing, "other.example", false),
        (&doubting, "shop.example", false),
    ] {
        let carried = send(courier, &format!("https://{host}:{port}/")).await;
        match carried {
            Ok(receipt) => assert!(is_believed && receipt.status == 200, "{host}"),
            Err(error) => {
                assert!(!is_believed && matches!(error, DeliveryError::Failed(_)), "{host}: {error}");
            }
        }
    }
}
