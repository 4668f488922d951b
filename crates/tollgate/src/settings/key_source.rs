//! Where a master key comes from: a setting, or a command that prints it, so that a key management service can hold it.

use std::{
    env,
    ffi::OsStr,
    io::Read as _,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tollgate_vault::Secret;

use super::text;
use crate::failure::Failure;

/// How long a command may take, and how much it may print.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_PRINTED: u64 = 4_096;
const PAUSE: Duration = Duration::from_millis(20);
/// What only a shell understands. None is started, so that nothing in a command means anything else than it says.
const FOR_SHELLS: &[char] = &['"', '\'', '`', '$', '|', '&', ';', '<', '>', '(', ')', '*', '?', '\\', '\n'];

/// A key, or how to get it.
#[derive(Debug)]
pub(crate) enum KeySource {
    Text(Secret),
    Command { setting: String, command: String },
}

impl KeySource {
    /// Reads `setting` and `setting` with `_COMMAND` behind it, of which one may be set.
    pub(super) fn read(
        setting: &str,
        from_file: Option<String>,
        command_from_file: Option<String>,
    ) -> Result<Option<Self>, Failure> {
        let command_setting = format!("{setting}_COMMAND");
        let key = text(setting)?.or(from_file);
        match (key, text(&command_setting)?.or(command_from_file)) {
            (Some(_), Some(_)) => Err(Failure::new(format!(
                "{setting} and {command_setting} are both set; remove one, so that it is clear which key is used"
            ))),
            (Some(key), None) => Ok(Some(Self::Text(Secret::new(key)))),
            (None, Some(command)) => Ok(Some(Self::Command { setting: command_setting, command })),
            (None, None) => Ok(None),
        }
    }

    /// The key; a command is run each time.
    pub(super) fn key(&self) -> Result<Secret, Failure> {
        match self {
            Self::Text(key) => Ok(key.clone()),
            Self::Command { setting, command } => {
                printed(command, COMMAND_TIMEOUT).map_err(|why| Failure::new(format!("{setting}: {why}")))
            }
        }
    }
}

/// What a command prints. Its words are separated by spaces; no shell sees them, and no setting of ours is passed on.
fn printed(command: &str, most: Duration) -> Result<Secret, String> {
    if command.contains(FOR_SHELLS) {
        return Err("the command is run without a shell, so that quotes, variables and pipes do not work; put them into a \
                    script and name that"
            .to_owned());
    }
    let mut words = command.split_whitespace();
    let program = words.next().ok_or("the command is empty; name a program")?;
    let is_ours = |name: &OsStr| name.to_string_lossy().starts_with("TOLLGATE_");
    let mut child = Command::new(program);
    child.args(words).stdin(Stdio::null()).stdout(Stdio::piped());
    for (name, _) in env::vars_os().filter(|(name, _)| is_ours(name)) {
        child.env_remove(name);
    }
    let child = child.spawn();
    let mut child = child.map_err(|error| {
        format!("cannot run `{program}`: {error}; check the path and that it is executable")
    })?;
    let output = output_of(&mut child, program, Instant::now() + most);
    if output.is_err() {
        // It has ended by itself, or cannot be waited for.
        let _ = child.kill();
        let _ = child.wait();
    }
    let bytes = output?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_PRINTED {
        return Err(format!(
            "`{program}` printed more than {MAX_PRINTED} bytes; it must print the key alone"
        ));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| format!("`{program}` printed bytes that are not text"))?;
    let key = text.trim();
    if key.is_empty() || key.contains(char::is_control) {
        return Err(format!("`{program}` must print the key alone, in one line"));
    }
    Ok(Secret::new(key))
}

fn output_of(child: &mut Child, program: &str, until: Instant) -> Result<Vec<u8>, String> {
    let late = || format!("`{program}` did not end in time; run it by hand to see what it waits for");
    let stdout = child.stdout.take().ok_or_else(late)?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(MAX_PRINTED + 1).read_to_end(&mut bytes);
        // Where nobody waits anymore, it was too late.
        let _ = sender.send(read.map(|_| bytes));
    });
    let left = || until.saturating_duration_since(Instant::now());
    let printed = receiver.recv_timeout(left()).map_err(|_| late())?;
    let printed = printed.map_err(|error| format!("cannot read what `{program}` prints: {error}"))?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(printed),
            Ok(Some(status)) => {
                return Err(format!(
                    "`{program}` failed ({status}); its own message is above, run it by hand as the user of this server"
                ));
            }
            Ok(None) if left().is_zero() => return Err(late()),
            Ok(None) => thread::sleep(PAUSE),
            Err(error) => return Err(format!("cannot wait for `{program}`: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn a_command_prints_the_key() {
        assert_eq!(printed("echo  a-key-of-a-service ", LONG).unwrap().expose(), "a-key-of-a-service");
    }

    #[test]
    fn what_goes_wrong_with_a_command_is_said() {
        for (command, said) in [
            ("", "the command is empty"),
            ("/nowhere/kms", "cannot run `/nowhere/kms`"),
            ("false", "failed (exit status: 1)"),
            ("true", "must print the key alone"),
            ("seq 2", "must print the key alone"),
            ("head -c 5000 /dev/zero", "printed more than 4096 bytes"),
            ("echo $KEY", "without a shell"),
            ("sh -c 'echo x'", "without a shell"),
        ] {
            let fault = printed(command, LONG).unwrap_err();
            assert!(fault.contains(said), "{command}: {fault}");
        }
    }

    #[test]
    fn a_command_that_does_not_end_is_given_up() {
        let fault = printed("sleep 600", Duration::from_millis(50)).unwrap_err();
        assert!(fault.contains("did not end in time"), "{fault}");
    }
}
