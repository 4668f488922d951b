//! Bytes that stay the same for as long as the server runs: compressed once, sent again only to those who have others.
//!
//! Never for an answer that holds a secret beside what its caller chose: the size of a compressed answer tells about both.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{Read as _, Write as _},
    sync::OnceLock,
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::encoding::accepts_gzip;

/// How long a client may use its copy without asking.
#[derive(Debug, Clone, Copy)]
pub enum Keep {
    /// Not at all: it asks each time whether its copy is still right.
    Validate,
    /// Minutes: its address stays when it changes.
    Minutes,
    /// A day: its address changes with it.
    Day,
    /// For good: its address names what it holds.
    Forever,
}

impl Keep {
    fn cache_control(self) -> &'static str {
        match self {
            Self::Validate => "no-cache",
            Self::Minutes => "public, max-age=300",
            Self::Day => "public, max-age=86400",
            Self::Forever => "public, max-age=31536000, immutable",
        }
    }
}

/// A file to serve.
pub struct StaticFile {
    content_type: &'static str,
    keep: Keep,
    tag: String,
    plain: OnceLock<Bytes>,
    gzip: OnceLock<Option<Bytes>>,
}

impl StaticFile {
    /// It is compressed when it is first wanted so.
    pub fn new(content_type: &'static str, keep: Keep, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let tag = tag(&bytes);
        Self { content_type, keep, tag, plain: OnceLock::from(bytes), gzip: OnceLock::new() }
    }

    /// From bytes that are compressed already; they are unpacked when somebody wants them so.
    pub(crate) fn compressed(content_type: &'static str, keep: Keep, gzip: &'static [u8]) -> Self {
        let gzip = Bytes::from_static(gzip);
        Self { content_type, keep, tag: tag(&gzip), plain: OnceLock::new(), gzip: OnceLock::from(Some(gzip)) }
    }

    /// Stands for what the file holds, in an address that is kept for a day.
    pub fn version(&self) -> &str {
        &self.tag
    }

    /// The answer to a request with these headers.
    pub fn respond(&self, headers: &HeaderMap) -> Response {
        let gzip = self.gzip().filter(|_| accepts_gzip(headers));
        let tag = format!("\"{}{}\"", self.tag, if gzip.is_some() { "-gzip" } else { "" });
        let is_known = has_tag(headers, &tag);
        let body = match &gzip {
            _ if is_known => Body::empty(),
            Some(bytes) => Body::from(bytes.clone()),
            None => Body::from(self.plain()),
        };
        let mut response = Response::new(body);
        let to = response.headers_mut();
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            to.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
            to.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            if gzip.is_some() {
                to.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        }
        let to = response.headers_mut();
        to.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.keep.cache_control()));
        to.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            to.insert(header::ETAG, tag);
        }
        response
    }

    fn plain(&self) -> Bytes {
        self.plain
            .get_or_init(|| self.gzip.get().and_then(Option::as_ref).map(unpacked).unwrap_or_default())
            .clone()
    }

    /// Nothing where compressing does not make it smaller.
    fn gzip(&self) -> Option<Bytes> {
        let made = self.gzip.get_or_init(|| {
            let plain = self.plain.get()?;
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(plain).ok()?;
            encoder.finish().ok().filter(|gzip| gzip.len() < plain.len()).map(Bytes::from)
        });
        made.clone()
    }
}

fn unpacked(gzip: &Bytes) -> Bytes {
    let mut plain = Vec::new();
    // What the build compressed can be unpacked.
    let _ = GzDecoder::new(gzip.as_ref()).read_to_end(&mut plain);
    plain.into()
}

fn tag(bytes: &Bytes) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Whether the caller has the file with this tag. A proxy that compresses by itself makes a tag weak.
fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
    }

    async fn body(response: Response) -> Bytes {
        response.into_body().collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn both_forms_hold_the_same_and_have_their_own_tags() {
        let text = "one line of many\n".repeat(200);
        let file = StaticFile::new("text/plain", Keep::Minutes, text.clone());
        let plain = file.respond(&HeaderMap::new());
        let gzip = file.respond(&headers(&[(header::ACCEPT_ENCODING, "gzip")]));
        assert!(plain.headers().get(header::CONTENT_ENCODING).is_none());
        assert_eq!(gzip.headers()[header::CONTENT_ENCODING], "gzip");
        assert_ne!(plain.headers()[header::ETAG], gzip.headers()[header::ETAG]);
        for response in [&plain, &gzip] {
            assert_eq!(response.headers()[header::VARY], "accept-encoding");
            assert_eq!(response.headers()[header::CACHE_CONTROL], "public, max-age=300");
            assert_eq!(response.headers()[header::CONTENT_TYPE], "text/plain");
        }
        assert_eq!(body(plain).await, text);
        let packed = body(gzip).await;
        assert!(packed.len() < text.len() / 10);
        assert_eq!(unpacked(&packed), text);
        let forbidden = file.respond(&headers(&[(header::ACCEPT_ENCODING, "gzip;q=0")]));
        assert_eq!(body(forbidden).await, text);
    }

    #[tokio::test]
    async fn a_client_that_has_it_gets_no_body() {
        let file = StaticFile::new("text/plain", Keep::Validate, "x".repeat(500));
        for encoding in ["gzip", "identity"] {
            let accept = (header::ACCEPT_ENCODING, encoding);
            let first = file.respond(&headers(std::slice::from_ref(&accept)));
            let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
            for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
                let again = file.respond(&headers(&[accept.clone(), (header::IF_NONE_MATCH, &known)]));
                assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
                assert_eq!(again.headers()[header::ETAG], tag);
                assert!(again.headers().get(header::CONTENT_ENCODING).is_none());
                assert!(body(again).await.is_empty());
            }
            let other = file.respond(&headers(&[accept, (header::IF_NONE_MATCH, "\"other\"")]));
            assert_eq!(other.status(), StatusCode::OK);
        }
    }

    #[tokio::test]
    async fn what_does_not_become_smaller_stays_as_it_is() {
        let file = StaticFile::new("text/plain", Keep::Validate, "short");
        let response = file.respond(&headers(&[(header::ACCEPT_ENCODING, "gzip")]));
        assert!(response.headers().get(header::CONTENT_ENCODING).is_none());
        assert_eq!(body(response).await, "short");
    }
}
