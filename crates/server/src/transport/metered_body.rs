//! A request's body, counted while it arrives.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::BoxError;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tollgate_engine::{BodyMeter, FREE_BODY_BYTES};

/// Fails with [`tollgate_engine::NoRoomForBody`] where more arrives than there is room for.
pub(crate) struct MeteredBody<B> {
    body: B,
    /// None for what is too small to be counted.
    meter: Option<Arc<BodyMeter>>,
}

/// Gives back what a request held, when it is answered or given up.
pub(crate) struct MeteredRequest(Option<Arc<BodyMeter>>);

impl MeteredRequest {
    /// Counts the body, unless it says that it is small.
    pub(crate) fn new<B: http_body::Body>(body: &B, meter: impl FnOnce() -> Arc<BodyMeter>) -> Self {
        let free = u64::try_from(FREE_BODY_BYTES).unwrap_or_default();
        let is_small = body.size_hint().upper().is_some_and(|most| most <= free);
        Self((!is_small).then(meter))
    }

    pub(crate) fn meter(&self) -> Option<&Arc<BodyMeter>> {
        self.0.as_ref()
    }

    pub(crate) fn counted<B>(&self, body: B) -> MeteredBody<B> {
        MeteredBody { body, meter: self.0.clone() }
    }
}

impl Drop for MeteredRequest {
    fn drop(&mut self) {
        if let Some(meter) = &self.0 {
            meter.end();
        }
    }
}

impl<B> http_body::Body for MeteredBody<B>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
            None => return Poll::Ready(None),
        };
        let taken = match (&self.meter, frame.data_ref()) {
            (Some(meter), Some(data)) => meter.take(data.len()),
            _ => Ok(()),
        };
        Poll::Ready(Some(taken.map(|()| frame).map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
