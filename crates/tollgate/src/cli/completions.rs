//! `tollgate completions`: what a shell needs to complete commands; `tollgate man`: the manual page.

use clap::{Args, Command};
use clap_complete::Shell;

use super::output;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(mut command: Command, completions: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut command, "tollgate", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

pub(crate) fn manual(command: Command) -> Result<(), Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.name("tollgate"))
        .render(&mut page)
        .map_err(|error| Failure::new(format!("the manual page cannot be made: {error}")))?;
    output::print(&String::from_utf8_lossy(&page))
}
