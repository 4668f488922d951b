//! One exchange: a connection, a request, an answer of which hardly anything is read.

use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, client::conn::http1};
use tokio::time::timeout;
use tollgate_engine::ports::{Courier, DeliveryError, OutboundRequest, OutboundResponse};
use url::Url;

use crate::{
    HttpCourier,
    connect::{failed, refused},
    retry_after,
};

/// As much of an answer is read as lets the receiver finish writing a short one; nothing of it is kept.
const ANSWER_BYTES_READ: usize = 16 * 1024;
/// An answer's head beyond this is no answer.
const HEAD_BYTES_MOST: usize = 32 * 1024;
const USER_AGENT: &str = concat!("Tollgate/", env!("CARGO_PKG_VERSION"));

#[async_trait]
impl Courier for HttpCourier {
    async fn send(&self, outbound: OutboundRequest) -> Result<OutboundResponse, DeliveryError> {
        let most = self.settings.timeout;
        timeout(most, self.exchange(outbound))
            .await
            .unwrap_or_else(|_| Err(failed(format!("no complete response within {} ms", most.as_millis()))))
    }
}

impl HttpCourier {
    async fn exchange(&self, outbound: OutboundRequest) -> Result<OutboundResponse, DeliveryError> {
        let url = Url::parse(&outbound.url).map_err(|_| refused("invalid URL"))?;
        let most = self.settings.connect_timeout;
        let stream = timeout(most, self.connect(&url)).await;
        let stream =
            stream.map_err(|_| failed(format!("no connection within {} ms", most.as_millis())))??;
        let request = request(&url, outbound)?;
        let handshake =
            http1::Builder::new().max_buf_size(HEAD_BYTES_MOST).handshake::<_, Full<Bytes>>(stream).await;
        let (mut sender, connection) =
            handshake.map_err(|error| failed(format!("connection lost: {error}")))?;
        // The connection is driven beside the request and ends with it: none is kept.
        let asking = async {
            let answer = sender.send_request(request).await;
            let answer = answer.map_err(|error| failed(format!("no response: {error}")))?;
            Ok(receipt(answer).await)
        };
        tokio::pin!(asking, connection);
        tokio::select! {
            biased;
            answered = &mut asking => answered,
            // It may end by itself once everything is read; what was read still counts.
            _ended = &mut connection => asking.await,
        }
    }
}

fn request(url: &Url, outbound: OutboundRequest) -> Result<Request<Full<Bytes>>, DeliveryError> {
    let unwritable = |_| refused("the address cannot be written into a request");
    let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let mut request = Request::builder().method(Method::POST).uri(target).body(Full::from(outbound.body));
    if let Ok(request) = &mut request {
        let headers = request.headers_mut();
        headers.insert(
            header::HOST,
            HeaderValue::try_from(host).map_err(|_| refused("the host cannot be written into a request"))?,
        );
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        headers.extend(tollgate_trace::header());
        for (name, value) in outbound.headers {
            let value = HeaderValue::try_from(value);
            headers.insert(
                HeaderName::from_static(name),
                value.map_err(|_| refused("a header cannot be written"))?,
            );
        }
    }
    request.map_err(unwritable)
}

/// The answer's status and wish. Its body is read a little way and thrown away.
async fn receipt(answer: Response<Incoming>) -> OutboundResponse {
    let retry_after = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.and_then(|text| retry_after::read(text, SystemTime::now()));
    let receipt = OutboundResponse { status: answer.status().as_u16(), retry_after };
    let (mut body, mut read) = (answer.into_body(), 0_usize);
    while read < ANSWER_BYTES_READ {
        let Some(Ok(frame)) = body.frame().await else { break };
        read = read.saturating_add(frame.data_ref().map_or(0, Bytes::len));
    }
    receipt
}
