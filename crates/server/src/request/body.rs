//! Reading a request's body: JSON, of bounded size, in bounded time.

use std::time::Duration;

use axum::{BoxError, body::Body};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http::{HeaderMap, header};
use http_body::Body as _;
use http_body_util::BodyExt;
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};
use tollgate_engine::NoRoomForBody;

use crate::{
    request::unknown_fields,
    response::{error::ApiError, error_code::ErrorCode},
    types::signature::{JsonBody, OptionalBody},
};

/// The most a client may send.
pub(crate) const CLIENT_LIMIT: usize = 64 * 1024;
/// The most an operator may send: a configuration with tens of thousands of rules.
pub(crate) const ADMIN_LIMIT: usize = 16 * 1024 * 1024;
/// The same for one whose role holds in some organizations only.
pub(crate) const LIMITED_ADMIN_LIMIT: usize = 4 * 1024 * 1024;

/// The most a provider may send as a webhook.
pub(crate) const WEBHOOK_LIMIT: usize = 128 * 1024;

/// How long a body may take to arrive.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(20);
/// How much of a body that is too large is read and thrown away, and for how long, so that its sender gets to read the
/// answer rather than a broken connection.
const DISCARD_LIMIT: usize = 32 * 1024 * 1024;
const DISCARD_TIME: Duration = Duration::from_secs(5);

impl<T> JsonBody<T> {
    /// The bytes of a body of ordinary size.
    pub(crate) async fn bytes(self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        read_json(headers, self.0, CLIENT_LIMIT).await
    }
}

impl<T> OptionalBody<T> {
    /// The bytes of a body of ordinary size; an object without fields where there is none.
    pub(crate) async fn bytes(self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        if self.0.is_end_stream() {
            return Ok(Bytes::from_static(b"{}"));
        }
        read_json(headers, self.0, CLIENT_LIMIT).await
    }
}

/// Reads a JSON body: 415 for another content type, 413 above `most` bytes, 408 when it does not arrive.
pub(crate) async fn read_json<B>(headers: &HeaderMap, body: B, most: usize) -> Result<Bytes, ApiError>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let is_json = headers.get(header::CONTENT_TYPE).is_some_and(|value| is_json(value.as_bytes()));
    let read = read(headers, body, most).await;
    if !is_json {
        return Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "Send the body as JSON with `Content-Type: application/json`.",
        ));
    }
    read
}

/// Reads a body as it is, whatever its content type: for signatures that cover the very bytes.
pub(crate) async fn read_raw(headers: &HeaderMap, body: Body, most: usize) -> Result<Bytes, ApiError> {
    read(headers, body, most).await
}

/// Leaves a body unread that nothing will be done with.
pub(crate) fn skip(headers: &HeaderMap, body: Body) {
    // A sender that waits for permission has sent nothing.
    if !headers.contains_key(header::EXPECT) {
        discard(body);
    }
}

async fn read<B>(headers: &HeaderMap, mut body: B, most: usize) -> Result<Bytes, ApiError>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > most) {
        // A sender that waits for permission has sent nothing.
        if !headers.contains_key(header::EXPECT) {
            discard(body);
        }
        return Err(ApiError::body_too_large(most));
    }
    let mut collected = Collected::new(most);
    // A small body has arrived with its head almost always; only one that has not gets a timer.
    let mut deadline = None;
    loop {
        let frame = if let Some(frame) = body.frame().now_or_never() {
            frame
        } else {
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + ARRIVAL_LIMIT);
            timeout_at(deadline, body.frame()).await.map_err(|_| ApiError::body_too_slow())?
        };
        let Some(frame) = frame else { break };
        let frame = match frame.map_err(Into::into) {
            Ok(frame) => frame,
            Err(error) if NoRoomForBody::caused(&*error) => {
                discard(body);
                return Err(ApiError::busy());
            }
            Err(_) => return Err(ApiError::malformed("The body ended early.")),
        };
        if let Ok(data) = frame.into_data()
            && collected.take(data).is_err()
        {
            discard(body);
            return Err(ApiError::body_too_large(most));
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(collected.finish())
}

/// Reads what is left of a body beside its answer, within bounds.
fn discard<B>(mut body: B)
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    tokio::spawn(async move {
        let mut discarded = 0_usize;
        let reading = async {
            while let Some(Ok(frame)) = body.frame().await {
                discarded = discarded.saturating_add(frame.data_ref().map_or(0, Bytes::len));
                if discarded > DISCARD_LIMIT {
                    break;
                }
            }
        };
        // Whether it ended or was given up makes no difference: the answer is out.
        let _ = timeout(DISCARD_TIME, reading).await;
    });
}

/// What has arrived of a body.
struct Collected {
    most: usize,
    /// The first piece as it came, which for most bodies is all there is.
    first: Bytes,
    joined: BytesMut,
}

struct TooLarge;

impl Collected {
    fn new(most: usize) -> Self {
        Self { most, first: Bytes::new(), joined: BytesMut::new() }
    }

    fn take(&mut self, data: Bytes) -> Result<(), TooLarge> {
        let held = self.first.len().max(self.joined.len());
        if held.saturating_add(data.len()) > self.most {
            return Err(TooLarge);
        }
        if self.first.is_empty() {
            self.first = data;
        } else {
            if self.joined.is_empty() {
                self.joined.extend_from_slice(&self.first);
            }
            self.joined.extend_from_slice(&data);
        }
        Ok(())
    }

    fn finish(self) -> Bytes {
        if self.joined.is_empty() { self.first } else { self.joined.freeze() }
    }
}

fn is_json(content_type: &[u8]) -> bool {
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

/// Reads the top level of a JSON object into a struct of raw fields.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ApiError> {
    if body.trim_ascii_start().first() != Some(&b'{') {
        // Serde would read a list into a struct, field by field.
        return Err(ApiError::malformed(match body.trim_ascii_start().first() {
            None => "The body is empty; send a JSON object.",
            Some(_) => "The body must be a JSON object.",
        }));
    }
    let text = std::str::from_utf8(body).map_err(|_| ApiError::malformed("The body is not valid UTF-8."))?;
    unknown_fields::read(None, text).map_err(|error| {
        // Serde's own words may quote the body; the place is enough.
        let (line, column) = (error.line(), error.column());
        let what = if error.is_data() { "A field is duplicated" } else { "The body is not valid JSON" };
        ApiError::malformed(format!("{what}, at line {line}, column {column}."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_content_types_are_told_by_their_essence() {
        for good in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            " application/json ;x=y",
        ] {
            assert!(is_json(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonp",
            "application/json-patch+json",
            "text/json",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_json(bad.as_bytes()), "{bad}");
        }
    }
}
