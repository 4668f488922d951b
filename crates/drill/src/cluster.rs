//! Three PostgreSQL nodes under Patroni, and the etcd they agree by. All of it is thrown away afterwards.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tollgate_bench::process::{self, Process};
use tollgate_bench::{Fault, launch};

use crate::link::{Link, State};

pub(crate) const NODES: usize = 3;
/// How many Tollgate nodes there are, each with its own way to every PostgreSQL node.
pub(crate) const TOLLGATES: usize = 2;
/// Seconds until a leader that says nothing is replaced, between two looks, and for one try at etcd.
pub(crate) const TTL: u32 = 5;
const LOOP_WAIT: u32 = 1;
const RETRY_TIMEOUT: u32 = 2;
/// More than a long drill writes, little enough to be filled in a second.
const SMALL_DISK: &str = "2g";
const DATABASE: &str = "tollgate";
const READY_WITHIN: Duration = Duration::from_mins(2);
/// A cluster that is not whole by then needs help.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(45);
/// Ports and shared memory of a killed node are free a moment later.
const PORTS_FREE_AFTER: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(100);

/// What the cluster is started with.
pub(crate) struct Setup<'a> {
    pub(crate) directory: &'a Path,
    /// Where `postgres` and `initdb` are.
    pub(crate) postgres: &'a Path,
    /// The user and group PostgreSQL runs as where we are root, for whom it refuses to run.
    pub(crate) account: Option<(u32, u32)>,
    pub(crate) synchronous: bool,
    /// Whether the last node's disk can be filled.
    pub(crate) small_disk: bool,
    /// Whether the clocks of the Tollgate nodes are wrong.
    pub(crate) wrong_clocks: bool,
}

pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    synchronous: bool,
    // Ended after the nodes.
    _etcd: Process,
}

/// One PostgreSQL with its Patroni.
pub(crate) struct Node {
    pub(crate) name: String,
    directory: PathBuf,
    account: Option<(u32, u32)>,
    /// Where PostgreSQL itself listens; only the probe goes there directly.
    pub(crate) server: SocketAddr,
    rest: SocketAddr,
    pub(crate) links: Links,
    patroni: Option<Process>,
    small_disk: Option<SmallDisk>,
}

/// The ways to a node, and its own to etcd.
pub(crate) struct Links {
    pub(crate) etcd: Link,
    pub(crate) rest: Link,
    pub(crate) replication: Link,
    pub(crate) tollgate: Vec<Link>,
}

impl Links {
    /// Separates the node from etcd and from its peers, and from nobody else.
    pub(crate) fn isolate(&self, state: State) {
        for link in [&self.etcd, &self.rest, &self.replication] {
            link.set(state);
        }
    }
}

/// Who is what, as Patroni has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) leader: usize,
    /// Whether every node runs and, if wanted, one of them confirms commits.
    whole: bool,
}

impl Cluster {
    pub(crate) async fn start(setup: &Setup<'_>) -> Result<Self, Fault> {
        let (etcd, etcd_address) = start_etcd(setup).await?;
        let mut cluster = Self { nodes: Vec::new(), synchronous: setup.synchronous, _etcd: etcd };
        for number in 1..=NODES {
            let node = Node::start(setup, number, etcd_address).await?;
            cluster.nodes.push(node);
            if number == 1 {
                // The first makes the cluster; the others copy it.
                cluster.wait(|_| true).await?;
            }
        }
        cluster.wait_whole().await?;
        Ok(cluster)
    }

    /// The URL by which a Tollgate node reaches whoever takes writes.
    pub(crate) fn url(&self, tollgate: usize) -> String {
        let hosts = self.nodes.iter().filter_map(|node| node.links.tollgate.get(tollgate));
        let hosts: Vec<String> = hosts.map(|link| link.address.to_string()).collect();
        format!("postgres://postgres@{}/{DATABASE}?target_session_attrs=read-write", hosts.join(","))
    }

    pub(crate) async fn create_database(&self) -> Result<(), Fault> {
        let leader = self.node(self.wait(|_| true).await?.leader)?;
        connect(leader.server).await?.batch_execute(&format!("CREATE DATABASE {DATABASE}")).await?;
        Ok(())
    }

    pub(crate) fn node(&self, number: usize) -> Result<&Node, Fault> {
        self.nodes.get(number).ok_or_else(|| "there is no such node".into())
    }

    pub(crate) fn node_mut(&mut self, number: usize) -> Result<&mut Node, Fault> {
        self.nodes.get_mut(number).ok_or_else(|| "there is no such node".into())
    }

    /// The current roles, if a node that can be asked knows a leader.
    pub(crate) async fn roles(&self) -> Option<Roles> {
        for node in &self.nodes {
            let asked = tokio::time::timeout(Duration::from_secs(2), ask(node.rest, "/cluster")).await;
            if let Ok(Ok(answer)) = asked
                && let Some(roles) = self.read_roles(&answer)
            {
                return Some(roles);
            }
        }
        None
    }

    fn read_roles(&self, answer: &Value) -> Option<Roles> {
        let members = answer.get("members")?.as_array()?;
        let text = |member: &Value, field: &str| member.get(field).and_then(Value::as_str).map(str::to_owned);
        let is = |member: &&Value, role: &str| text(member, "role").as_deref() == Some(role);
        let leader = members.iter().find(|member| is(member, "leader"))?;
        let name = text(leader, "name")?;
        let leader = self.nodes.iter().position(|node| node.name == name)?;
        let runs = members
            .iter()
            .filter(|member| matches!(text(member, "state").as_deref(), Some("running" | "streaming")));
        let confirmed = !self.synchronous || members.iter().any(|member| is(&member, "sync_standby"));
        Some(Roles { leader, whole: runs.count() == NODES && confirmed })
    }

    /// Waits until Patroni's roles are as wanted.
    pub(crate) async fn wait(&self, is_so: impl Fn(Roles) -> bool) -> Result<Roles, Fault> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if let Some(roles) = self.roles().await
                && is_so(roles)
            {
                return Ok(roles);
            }
            if Instant::now() > deadline {
                return Err(self.not_recovered());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn not_recovered(&self) -> Fault {
        let logs: Vec<String> = self.nodes.iter().map(|node| launch::last_lines(&node.log())).collect();
        let limit = READY_WITHIN.as_secs();
        format!("the cluster did not recover within {limit} s\n{}", logs.join("\n--\n")).into()
    }

    /// Waits until all nodes run, replicate, and would survive the loss of any one of them.
    pub(crate) async fn wait_whole(&mut self) -> Result<Roles, Fault> {
        let begun = Instant::now();
        let mut has_helped = false;
        loop {
            let roles = self.wait(|_| true).await?;
            // Patroni's list keeps a node for a while after its death.
            let looking = streaming(self.node(roles.leader)?.server);
            let streaming = tokio::time::timeout(Duration::from_secs(2), looking).await;
            let streaming = streaming.map_err(Fault::from).flatten();
            let all_follow = streaming.as_ref().is_ok_and(|standbys| standbys.len() + 1 == NODES);
            if roles.whole && all_follow {
                return Ok(roles);
            }
            if begun.elapsed() > READY_WITHIN {
                return Err(self.not_recovered());
            }
            if begun.elapsed() > FOLLOWS_WITHIN && !has_helped {
                has_helped = true;
                if all_follow {
                    self.restart_leader(roles.leader).await?;
                } else {
                    self.set_up_anew(roles.leader, &streaming.unwrap_or_default()).await?;
                }
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// What an operator does with a leader that names no standby to confirm its commits although all follow: Patroni can keep an outdated
    /// version of what etcd has, and every attempt to name one then fails. It reads that again when it starts.
    async fn restart_leader(&mut self, leader: usize) -> Result<(), Fault> {
        let node = self.node_mut(leader)?;
        eprintln!("both standbys follow {} and the cluster is not whole; it is restarted", node.name);
        node.kill();
        tokio::time::sleep(PORTS_FREE_AFTER).await;
        node.restart()
    }

    /// What an operator does with a standby that has come back and does not follow: it begins again with an empty directory.
    /// `patronictl reinit` is not enough where Patroni has lost sight of a server that it started.
    async fn set_up_anew(&mut self, leader: usize, streaming: &[String]) -> Result<(), Fault> {
        for (number, node) in self.nodes.iter_mut().enumerate() {
            if number != leader && !streaming.contains(&node.name) {
                eprintln!("{} does not follow the leader; it is set up anew", node.name);
                node.kill();
                tokio::time::sleep(PORTS_FREE_AFTER).await;
                fs::remove_dir_all(node.directory.join("data"))?;
                node.restart()?;
            }
        }
        Ok(())
    }
}

/// A connection that goes through no link.
pub(crate) async fn connect(server: SocketAddr) -> Result<tokio_postgres::Client, Fault> {
    let url = format!("postgres://postgres@{server}/postgres?connect_timeout=1");
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
    // Its end is seen by whoever asks next.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

/// The standbys that a leader sends to.
async fn streaming(server: SocketAddr) -> Result<Vec<String>, Fault> {
    let sql = "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'";
    let rows = connect(server).await?.query(sql, &[]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

impl Node {
    async fn start(setup: &Setup<'_>, number: usize, etcd: SocketAddr) -> Result<Self, Fault> {
        let name = format!("pg{number}");
        let directory = setup.directory.join(&name);
        own_directory(&directory, setup.account)?;
        let small_disk = if setup.small_disk && number == NODES {
            Some(SmallDisk::mount(&directory, setup.account)?)
        } else {
            None
        };
        let (server, rest) = (launch::free_address()?, launch::free_address()?);
        let mut tollgate = Vec::new();
        for _ in 0..TOLLGATES {
            tollgate.push(Link::start(server).await?);
        }
        let links = Links {
            etcd: Link::start(etcd).await?,
            rest: Link::start(rest).await?,
            replication: Link::start(server).await?,
            tollgate,
        };
        let account = setup.account;
        let mut node = Self { name, directory, account, server, rest, links, patroni: None, small_disk };
        fs::write(node.configuration_file(), node.configuration(setup))?;
        node.restart()?;
        Ok(node)
    }

    /// Patroni's configuration. `docs/drill.md` shows it.
    fn configuration(&self, setup: &Setup<'_>) -> String {
        let Self { name, server, rest, links, .. } = self;
        let (server_port, directory, binaries) =
            (server.port(), self.directory.display(), setup.postgres.display());
        let (etcd, rest_link, replication) =
            (links.etcd.address, links.rest.address, links.replication.address);
        let synchronous = setup.synchronous;
        format!(
            "scope: drill
name: {name}
restapi:
  listen: {rest}
  connect_address: {rest_link}
etcd3:
  host: {etcd}
  use_proxies: true
watchdog:
  mode: off
bootstrap:
  dcs:
    ttl: {TTL}
    loop_wait: {LOOP_WAIT}
    retry_timeout: {RETRY_TIMEOUT}
    primary_start_timeout: {TTL}
    maximum_lag_on_failover: 16777216
    synchronous_mode: {synchronous}
    synchronous_mode_strict: {synchronous}
    postgresql:
      use_pg_rewind: true
      use_slots: true
  initdb:
    - encoding: UTF8
    - locale: C
    - no-sync
  pg_hba:
    - host all all 127.0.0.1/32 trust
    - host replication all 127.0.0.1/32 trust
postgresql:
  listen: 127.0.0.1:{server_port}
  connect_address: {replication}
  data_dir: {directory}/data
  bin_dir: {binaries}
  pgpass: {directory}/pgpass
  basebackup:
    checkpoint: fast
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  authentication:
    superuser:
      username: postgres
    replication:
      username: replicator
  parameters:
    unix_socket_directories: {directory}
    shared_buffers: 32MB
    wal_keep_size: 256MB
    max_wal_size: 256MB
    wal_sender_timeout: 5s
    wal_receiver_timeout: 5s
"
        )
    }

    fn configuration_file(&self) -> PathBuf {
        self.directory.join("patroni.yml")
    }

    fn log(&self) -> PathBuf {
        self.directory.with_extension("log")
    }

    /// Starts Patroni, which starts PostgreSQL.
    pub(crate) fn restart(&mut self) -> Result<(), Fault> {
        let log = File::options().create(true).append(true).open(self.log())?;
        let mut command = Command::new("patroni");
        command
            .arg(self.configuration_file())
            .current_dir(&self.directory)
            .env("HOME", &self.directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        as_account(&mut command, self.account);
        self.patroni = Some(Process::spawn("patroni", &mut command)?);
        Ok(())
    }

    /// Patroni, PostgreSQL and every process of it, the one that could start others first. There may be a server that Patroni has lost
    /// sight of, with no file that names it.
    fn processes(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.patroni.iter().map(Process::id).collect();
        let data = self.directory.join("data").into_os_string().into_encoded_bytes();
        let running = fs::read_dir("/proc").into_iter().flatten().flatten();
        let running = running.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        for server in running.filter(|id| is_postgres(*id) && has_argument(*id, &data)) {
            all.push(server);
            all.extend(process::children(server).unwrap_or_default());
        }
        all
    }

    /// `kill -9` of everything, as if the machine had lost its power.
    pub(crate) fn kill(&mut self) {
        send("-KILL", &self.processes());
        self.patroni = None;
    }

    pub(crate) fn pause(&self) {
        send("-STOP", &self.processes());
    }

    pub(crate) fn resume(&self) {
        send("-CONT", &self.processes());
    }

    /// Takes all the space there is. Dropping the file's name gives it back.
    pub(crate) fn fill_disk(&self) -> Result<PathBuf, Fault> {
        let disk = self.small_disk.as_ref().ok_or("this node's disk cannot be filled")?;
        let path = disk.0.join("filler");
        let mut file = File::create(&path)?;
        let block = vec![0; 1 << 20];
        while file.write_all(&block).is_ok() {}
        Ok(path)
    }
}

/// A file system in memory that only this node uses; unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(directory: &Path, account: Option<(u32, u32)>) -> Result<Self, Fault> {
        let options = match account {
            Some((user, group)) => format!("size={SMALL_DISK},mode=700,uid={user},gid={group}"),
            None => format!("size={SMALL_DISK},mode=700"),
        };
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(directory).status()?;
        if mounted.success() {
            Ok(Self(directory.to_owned()))
        } else {
            Err("a file system in memory cannot be mounted; leave full disks out with --full-disks 0".into())
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: what was killed a moment ago may still hold it.
        drop(Command::new("umount").arg("--lazy").arg(&self.0).status());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to all of them in this order, with one command.
pub(crate) fn send(signal: &str, processes: &[u32]) {
    let ids = processes.iter().map(u32::to_string);
    // It fails only for processes that are gone.
    drop(Command::new("kill").arg(signal).args(ids).stdin(Stdio::null()).stderr(Stdio::null()).status());
}

/// Whether a process was started with this argument, alone or behind an equals sign.
fn has_argument(id: u32, wanted: &[u8]) -> bool {
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|argument| {
        argument.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with(b"="))
    })
}

fn is_postgres(id: u32) -> bool {
    fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.trim_end() == "postgres")
}

async fn start_etcd(setup: &Setup<'_>) -> Result<(Process, SocketAddr), Fault> {
    let directory = setup.directory.join("etcd");
    own_directory(&directory, setup.account)?;
    let (client, peer) = (launch::free_address()?, launch::free_address()?);
    let log = directory.join("etcd.log");
    let file = File::create(&log)?;
    let (client_url, peer_url) = (format!("http://{client}"), format!("http://{peer}"));
    let mut command = Command::new("etcd");
    command
        .args([
            "--name",
            "drill",
            "--listen-client-urls",
            &client_url,
            "--advertise-client-urls",
            &client_url,
        ])
        .args(["--listen-peer-urls", &peer_url, "--initial-advertise-peer-urls", &peer_url])
        .args(["--initial-cluster", &format!("drill={peer_url}"), "--data-dir"])
        .arg(directory.join("data"))
        .current_dir(&directory)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .process_group(0);
    as_account(&mut command, setup.account);
    let ask = async || ask(client, "/version").await.ok().map(drop);
    let (process, ()) = launch::start("etcd", &mut command, &log, ask).await?;
    Ok((process, client))
}

fn own_directory(directory: &Path, account: Option<(u32, u32)>) -> Result<(), Fault> {
    fs::create_dir(directory)?;
    fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    if let Some((user, group)) = account {
        chown(directory, Some(user), Some(group))?;
    }
    Ok(())
}

fn as_account(command: &mut Command, account: Option<(u32, u32)>) {
    // Settings meant for the caller's own clusters must not reach this one.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["PG", "PATRONI_", "ETCD"].iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
    }
}

/// `GET`, with JSON for an answer.
async fn ask(address: SocketAddr, path: &str) -> Result<Value, Fault> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let body = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let body = body.and_then(|place| answer.get(place + 4..)).ok_or("an answer without a body")?;
    Ok(serde_json::from_slice(body)?)
}
