//! Processes that we started, and what they started.

use std::fs;
use std::process::{Child, Command};

/// Kills the process and everything below it: tests start servers, and those outlive a test program that is killed.
pub(crate) fn kill_tree(child: &mut Child) {
    let parents = parents();
    let mut tree = vec![child.id()];
    let mut position = 0;
    while let Some(parent) = tree.get(position).copied() {
        tree.extend(parents.iter().filter(|(_, other)| *other == parent).map(|(process, _)| *process));
        position += 1;
    }
    for process in tree.iter().skip(1) {
        // One that has ended meanwhile is no fault.
        drop(Command::new("kill").args(["-KILL", &process.to_string()]).status());
    }
    drop(child.kill());
}

/// Every process and its parent, as Linux lists them; elsewhere nothing.
fn parents() -> Vec<(u32, u32)> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let texts = folders.filter_map(|folder| fs::read_to_string(folder.path().join("stat")).ok());
    texts.filter_map(|text| parse_stat(&text)).collect()
}

/// Reads `12 (a name (with anything)) S 7 …`: process and parent.
fn parse_stat(text: &str) -> Option<(u32, u32)> {
    let process = text.split(' ').next()?.parse().ok()?;
    let (_name, rest) = text.rsplit_once(") ")?;
    Some((process, rest.split(' ').nth(1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_process_and_its_parent_are_read_whatever_its_name_is() {
        assert_eq!(parse_stat("12 (a) S (b) name) S 7 12 12 0 -1"), Some((12, 7)));
        assert_eq!(parse_stat("12 (cut off"), None);
    }

    #[test]
    fn what_a_killed_process_started_ends_with_it() {
        let mut shell =
            Command::new("sh").args(["-c", "sleep 600 & wait"]).stdout(Stdio::null()).spawn().unwrap();
        let of_shell = || parents().iter().find(|(_, parent)| *parent == shell.id()).map(|pair| pair.0);
        let deadline = Instant::now() + Duration::from_mins(1);
        let sleep = loop {
            if let Some(sleep) = of_shell() {
                break sleep;
            }
            assert!(Instant::now() < deadline, "the shell started nothing");
            std::thread::sleep(Duration::from_millis(10));
        };
        kill_tree(&mut shell);
        shell.wait().unwrap();
        let is_sleeping = || {
            let text = fs::read_to_string(format!("/proc/{sleep}/stat")).unwrap_or_default();
            text.contains("(sleep) S")
        };
        while is_sleeping() {
            assert!(Instant::now() < deadline, "what the shell started goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
