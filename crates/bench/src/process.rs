//! A child process that never outlives its handle.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::Fault;

const STOPPED_WITHIN: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(2);

/// Dropping it kills the child, so that an error on the way leaves nothing running.
pub struct Process {
    name: &'static str,
    child: Child,
}

impl Process {
    pub fn spawn(name: &'static str, command: &mut Command) -> Result<Self, Fault> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().map_err(|error| format!("{program} could not be started: {error}"))?;
        Ok(Self { name, child })
    }

    /// Asks again and again until there is an answer, the child has ended or the time is up.
    pub async fn wait_for<T>(
        &mut self,
        limit: Duration,
        mut ask: impl AsyncFnMut() -> Option<T>,
    ) -> Result<T, Fault> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(answer) = ask().await {
                return Ok(answer);
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("{} ended before it was ready: {status}", self.name).into());
            }
            if Instant::now() >= deadline {
                return Err(format!("{} was not ready within {} s", self.name, limit.as_secs()).into());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until the child has ended by itself.
    pub async fn finish(mut self, limit: Duration) -> Result<ExitStatus, Fault> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                return Err(format!("{} did not end within {} s", self.name, limit.as_secs()).into());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the child to end as an operator would, and insists after a while.
    pub async fn stop(mut self) -> Result<(), Fault> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).stdin(Stdio::null()).status()?;
        let deadline = Instant::now() + STOPPED_WITHIN;
        while self.child.try_wait()?.is_none() {
            if Instant::now() >= deadline {
                return Err(
                    format!("{} did not stop within {} s", self.name, STOPPED_WITHIN.as_secs()).into()
                );
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Resident memory in KiB.
    pub fn memory_kib(&self) -> Result<u64, Fault> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        parse_memory(&status).ok_or_else(|| "VmRSS is missing".into())
    }
}

/// Processor time a process has used so far, over all threads.
pub fn processor_time(id: u32) -> Result<Duration, Fault> {
    Ok(stat(id)?.own)
}

/// Processor time that the thread of this name has used so far, if a process has one.
pub fn thread_time(id: u32, name: &str) -> Result<Option<Duration>, Fault> {
    for entry in std::fs::read_dir(format!("/proc/{id}/task"))? {
        let thread = entry?.path();
        let is_it = std::fs::read_to_string(thread.join("comm")).is_ok_and(|found| found.trim_end() == name);
        if is_it {
            let stat = parse_stat(&std::fs::read_to_string(thread.join("stat"))?);
            return Ok(Some(stat.ok_or("processor time is missing")?.own));
        }
    }
    Ok(None)
}

/// The process that started this one.
pub fn parent(id: u32) -> Result<u32, Fault> {
    Ok(stat(id)?.parent)
}

/// The processes that a process has started and that still run.
pub fn children(id: u32) -> Result<Vec<u32>, Fault> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Some(child) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process may end between the list and the look.
        if stat(child).is_ok_and(|stat| stat.parent == id) {
            children.push(child);
        }
    }
    Ok(children)
}

/// Processor time that a process and its children have used so far, those that have ended included.
pub fn family_processor_time(id: u32) -> Result<Duration, Fault> {
    let children: Duration = children(id)?.into_iter().flat_map(stat).map(|stat| stat.own).sum();
    let stat = stat(id)?;
    Ok(children + stat.own + stat.ended_children)
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    own: Duration,
    ended_children: Duration,
}

fn stat(id: u32) -> Result<Stat, Fault> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    parse_stat(&stat).ok_or_else(|| "processor time is missing".into())
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if the child is already gone.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn parse_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Linux counts user and system time in hundredths of a second, in the 14th and 15th field, those of ended children in
/// the next two; the parent is the fourth. The second field is the program's name in parentheses and may hold anything.
fn parse_stat(stat: &str) -> Option<Stat> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let mut fields = fields.skip(9);
    let mut time = || {
        let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Duration::from_millis((user + system) * 10))
    };
    Some(Stat { parent, own: time()?, ended_children: time()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_files() {
        assert_eq!(parse_memory("Name:\tx\nVmHWM:\t  99 kB\nVmRSS:\t   23456 kB\n"), Some(23456));
        assert_eq!(parse_memory("Name:\tx\n"), None);
        let stat = "42 (odd ) name) S 7 42 42 0 -1 4194304 100 0 0 0 150 25 3 4 20 0 3 0 1 2 3";
        let (own, ended_children) = (Duration::from_millis(1750), Duration::from_millis(70));
        assert_eq!(parse_stat(stat), Some(Stat { parent: 7, own, ended_children }));
        assert_eq!(parse_stat("42 (x) S 1"), None);
    }

    #[tokio::test]
    async fn a_child_that_ends_early_is_reported() {
        let mut process = Process::spawn("short", Command::new("sh").args(["-c", "exit 3"])).unwrap();
        let fault = process.wait_for(Duration::from_secs(5), async || None::<()>).await.unwrap_err();
        assert!(fault.to_string().contains("ended before it was ready"), "{fault}");
    }

    #[tokio::test]
    async fn a_child_is_waited_for_within_bounds() {
        let process = Process::spawn("short", Command::new("sh").args(["-c", "exit 3"])).unwrap();
        assert_eq!(process.finish(Duration::from_secs(5)).await.unwrap().code(), Some(3));
        let process = Process::spawn("long", Command::new("sleep").arg("60")).unwrap();
        assert_eq!(parent(process.id()).unwrap(), std::process::id());
        assert!(family_processor_time(std::process::id()).is_ok());
        let fault = process.finish(Duration::ZERO).await.unwrap_err();
        assert_eq!(fault.to_string(), "long did not end within 0 s");
    }

    #[tokio::test]
    async fn a_child_stops_when_asked() {
        let process = Process::spawn("long", Command::new("sleep").arg("60")).unwrap();
        assert!(process.memory_kib().is_ok() && processor_time(process.id()).is_ok());
        process.stop().await.unwrap();
    }
}
