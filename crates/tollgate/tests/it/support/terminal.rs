//! The command line as an operator uses it: one command, what it printed, how it ended.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::server::{ADMIN_TOKEN, Server};

/// A shell with its own folder and variables.
#[derive(Clone)]
pub struct Terminal {
    variables: Vec<(String, String)>,
    folder: PathBuf,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Terminal {
    /// Beside a sandbox: its notes are all there is to find it by.
    pub fn beside(sandbox: &Server) -> Self {
        let folder = sandbox.data_dir.parent().unwrap().to_owned();
        Self::nowhere(folder).with("TOLLGATE_DATA_DIR", sandbox.data_dir.to_str().unwrap())
    }

    /// For a server started by `Start::serve`.
    pub fn of(server: &Server) -> Self {
        let terminal = Self::nowhere(server.data_dir.clone());
        terminal
            .with("TOLLGATE_URL", &format!("http://{}", server.address()))
            .with("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN)
    }

    /// With nothing to find a server by.
    pub fn nowhere(folder: PathBuf) -> Self {
        Self { variables: Vec::new(), folder }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The command, ready to be started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        for name in
            ["URL", "ADMIN_TOKEN", "ENVIRONMENT", "DATA_DIR", "ACTOR", "LISTEN", "DATABASE_URL", "MASTER_KEY"]
        {
            command.env_remove(format!("TOLLGATE_{name}"));
        }
        command.args(arguments).current_dir(&self.folder).env("USER", "ann");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Said {
        let output = self.command(arguments).output().unwrap();
        Said::of(&output)
    }

    /// The same with somebody at the keyboard.
    pub fn answering(&self, input: &str, arguments: &[&str]) -> Said {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Said::of(&child.wait_with_output().unwrap())
    }

    /// What it prints when all is well.
    #[track_caller]
    pub fn shows(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
        said.out
    }

    /// The same as data.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        let out = self.shows(&all);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error} in {out}"))
    }

    /// What it complains of.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, 1, "{arguments:?}: {said:?}");
        assert!(said.err.starts_with("tollgate: "), "{arguments:?}: {said:?}");
        said.err
    }
}

impl Said {
    fn of(output: &std::process::Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}
