//! Asking before something is changed.

use std::io::{self, BufRead, Write};

use clap::Args;

use crate::failure::Failure;

/// Whether to ask.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Confirm {
    /// Skip the confirmation prompt.
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

impl Confirm {
    /// `Ok` where the answer is yes. Without anybody to ask nothing is done.
    pub(crate) fn ask(self, question: &str) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        let mut prompt = io::stderr().lock();
        let shown = write!(prompt, "{question} [y/N] ").and_then(|()| prompt.flush());
        let mut answer = String::new();
        let read = shown.and_then(|()| io::stdin().lock().read_line(&mut answer));
        match read {
            Ok(length) if length > 0 => match answer.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" => Ok(()),
                _ => Err(Failure::new("nothing was changed")),
            },
            _ => Err(Failure::new("not a terminal, so nothing was changed; pass --yes to skip the prompt")),
        }
    }
}
