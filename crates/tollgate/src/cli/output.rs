//! What a command prints: the API's data as JSON, or something to read.

use std::{
    env,
    io::{self, ErrorKind, IsTerminal, Write},
};

use serde_json::Value;

use crate::failure::Failure;

/// Where and how a command prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) style: Style,
}

/// Colors, or none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    colors: bool,
    /// How many columns there are; unlimited where nobody looks at them.
    pub(crate) width: Option<usize>,
}

/// What a color is to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Strong,
    Dim,
    Good,
    Bad,
    Notice,
}

impl Style {
    /// Colors on a terminal only, and not where `NO_COLOR` forbids them.
    fn of_terminal() -> Self {
        let forbidden = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        let is_terminal = io::stdout().is_terminal();
        Self { colors: is_terminal && !forbidden && !dumb, width: width(is_terminal) }
    }

    /// Without colors, so many columns wide.
    #[cfg(test)]
    pub(crate) const fn plain(width: Option<usize>) -> Self {
        Self { colors: false, width }
    }

    /// The same for what stands behind so many characters.
    #[must_use]
    pub(crate) fn behind(self, characters: usize) -> Self {
        Self { width: self.width.map(|width| width.saturating_sub(characters)), ..self }
    }

    /// The text in its color; control characters are taken out, for texts of strangers are printed too.
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        let text = printable(text);
        let code = match paint {
            Paint::Strong => "1",
            Paint::Dim => "2",
            Paint::Good => "32",
            Paint::Bad => "31",
            Paint::Notice => "33",
            Paint::Plain => return text,
        };
        if self.colors { format!("\x1b[{code}m{text}\x1b[0m") } else { text }
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint(Paint::Strong, text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint(Paint::Dim, text)
    }

    /// A status in the color people expect of it.
    pub(crate) fn status(self, status: &str) -> String {
        self.paint(paint_of(status), status)
    }
}

/// What `COLUMNS` says, or else the terminal.
pub(crate) fn width(is_terminal: bool) -> Option<usize> {
    let set = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let asked = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    };
    if is_terminal { set.or_else(asked) } else { set }
}

/// The color of a status, a state or a verdict.
pub(crate) fn paint_of(status: &str) -> Paint {
    match status {
        "succeeded" | "live" | "matched" | "delivered" | "applied" | "ok" | "enabled" | "ready" | "yes" => {
            Paint::Good
        }
        "failed" | "canceled" | "revoked" | "refused" | "problem" | "parked" | "down" | "no" => Paint::Bad,
        "pending" | "processing" | "waiting" | "warning" | "refunded" | "expired" | "disabled"
        | "degraded" => Paint::Notice,
        _ => Paint::Plain,
    }
}

/// A text without anything that would move a cursor or ring a bell.
pub(crate) fn printable(text: &str) -> String {
    let shown = |outbound: char| if outbound.is_control() { '\u{fffd}' } else { outbound };
    text.chars().map(shown).collect()
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, style: Style::of_terminal() }
    }

    /// The data for programs, or what `readable` makes of it for people.
    pub(crate) fn show(self, data: &Value, readable: impl FnOnce(Style) -> String) -> Result<(), Failure> {
        if self.json { print(&format!("{data:#}")) } else { print(&readable(self.style)) }
    }
}

/// Prints a text and ends its last line. Whoever stops reading has seen enough.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}
