//! The bytes of a connection on their way to and from the HTTP parser.
//!
//! A request whose head cannot be read never reaches a handler: the parser answers it by itself, without a body and an
//! id. Whatever is written while no request is being answered is such an answer, and is replaced here by one in the
//! envelope that all others have.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::Bytes;
use http::StatusCode;
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};

use crate::transport::connections::{OpenConnection, Phase};

/// How much of what follows a refused head is read and thrown away, so that its sender gets to read the answer rather
/// than a broken connection.
const DISCARD_LIMIT: usize = 1024 * 1024;

/// The most that a request's first line and headers may have, in bytes.
pub(crate) const MAX_HEAD: usize = 32 * 1024;

/// The most that is read at once: less than the parser's smallest buffer.
const MAX_READ: u64 = 8 * 1024 - 1;

pub(crate) struct ConnectionStream<S, R> {
    /// Reads no more at once than its limit, which is set anew each time.
    stream: Take<S>,
    connection: Arc<OpenConnection>,
    /// What to answer, given the status and the head that the parser would answer with.
    refuse: R,
    /// True while the first line of a head arrives, and how long that line is so far, exactly only once it may be
    /// too long.
    in_first_line: bool,
    first_line_bytes: usize,
    refusal: Option<ErrorReply>,
}

/// An answer that is written instead of the parser's.
struct ErrorReply {
    answer: Vec<u8>,
    written: usize,
    discarded: usize,
}

impl<S, R> ConnectionStream<S, R>
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: Fn(StatusCode, &str) -> Vec<u8>,
{
    pub(crate) fn new(stream: S, connection: Arc<OpenConnection>, refuse: R) -> Self {
        let stream = stream.take(MAX_READ);
        Self { stream, connection, refuse, in_first_line: true, first_line_bytes: 0, refusal: None }
    }

    fn saw(&mut self, bytes: &[u8]) {
        let activity = self.connection.activity();
        match activity.phase() {
            Phase::Busy | Phase::Body => return,
            Phase::Idle if bytes.is_empty() => return,
            Phase::Idle => {
                activity.head_began();
                // What came behind the last request in one piece with it was not looked at.
                (self.in_first_line, self.first_line_bytes) = (begins_with_method(bytes), 0);
            }
            Phase::Head => {}
        }
        if self.in_first_line {
            self.in_first_line = !bytes.contains(&b'\n');
            let end = if self.in_first_line || self.first_line_bytes.saturating_add(bytes.len()) < MAX_HEAD {
                bytes.len()
            } else {
                bytes.iter().take_while(|byte| **byte != b'\n').count()
            };
            self.first_line_bytes = self.first_line_bytes.saturating_add(end);
        }
    }

    /// What to write instead of what the parser answers.
    fn refusal_of(&self, head: &[u8]) -> Option<Vec<u8>> {
        let head = std::str::from_utf8(head).ok()?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok())?;
        // The parser does not look at what is too much of it.
        let is_first_line = self.in_first_line || self.first_line_bytes >= MAX_HEAD;
        let status = match status {
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE if is_first_line => StatusCode::URI_TOO_LONG,
            status => status,
        };
        Some((self.refuse)(status, head))
    }

    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(refusal) = &mut self.refusal else { return Poll::Ready(Ok(())) };
        while let Some(rest) = refusal.answer.get(refusal.written..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(self.stream.get_mut()).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => refusal.written += written,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Waits for the sender to hang up, within bounds: closing with bytes unread would take the answer back.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(refusal) = &mut self.refusal else { return Poll::Ready(Ok(())) };
        let mut space = [0; 4096];
        while refusal.discarded < DISCARD_LIMIT {
            let mut buffer = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(self.stream.get_mut()).poll_read(context, &mut buffer));
            match (read, buffer.filled().len()) {
                (Ok(()), 0) | (Err(_), _) => break,
                (Ok(()), count) => refusal.discarded += count,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S, R> AsyncRead for ConnectionStream<S, R>
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: Fn(StatusCode, &str) -> Vec<u8> + Unpin,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The parser would double its buffer each time it is filled, and keep it for as long as the connection waits.
        self.stream.set_limit(MAX_READ);
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.saw(buffer.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl<S, R> AsyncWrite for ConnectionStream<S, R>
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: Fn(StatusCode, &str) -> Vec<u8> + Unpin,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.refusal.is_none() && !self.connection.activity().is_answering() {
            let answer = self.refusal_of(bytes);
            self.refusal = answer.map(|answer| ErrorReply { answer, written: 0, discarded: 0 });
        }
        if self.refusal.is_none() {
            return Pin::new(self.stream.get_mut()).poll_write(context, bytes);
        }
        ready!(self.poll_refusal(context))?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(self.stream.get_mut()).poll_flush(context))?;
        self.connection.activity().flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(self.stream.get_mut()).poll_shutdown(context))?;
        self.poll_discard(context)
    }
}

fn begins_with_method(bytes: &[u8]) -> bool {
    let word = bytes.split(|byte| *byte == b' ').next().unwrap_or_default();
    !word.is_empty() && word.iter().all(u8::is_ascii_uppercase)
}

/// A request's body, which notes whether its connection waits for it or is being served.
pub(crate) struct ArrivingBody<B> {
    body: B,
    connection: Arc<OpenConnection>,
}

impl<B> ArrivingBody<B> {
    pub(crate) fn new(body: B, connection: Arc<OpenConnection>) -> Self {
        Self { body, connection }
    }
}

impl<B: http_body::Body + Unpin> http_body::Body for ArrivingBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Pending => self.connection.body_awaited(),
            Poll::Ready(_) => self.connection.body_came(),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body: once it is gone, the request has ended.
pub(crate) struct AnswerBody {
    body: Body,
    connection: Arc<OpenConnection>,
}

impl AnswerBody {
    pub(crate) fn new(body: Body, connection: Arc<OpenConnection>) -> Self {
        Self { body, connection }
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.connection.request_ended();
    }
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
