//! A disk without room for a payment: the server says that it is not ready, and is again once there is room.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{FIRST_MARKER, Server, Start, Tenant, marked_document, skipped, wait_until};

const SOON: Duration = Duration::from_secs(120);
/// Room for a commit of a page or ten, and for no more.
const ROOM: u64 = 100 * 1024;

/// A configuration of more than half a megabyte.
fn large_document() -> Value {
    let mut document = marked_document(FIRST_MARKER + 1);
    let rules: Vec<_> = (0..4_000)
        .map(|number| {
            json!({
                "id": format!("rule_{number}"),
                "conditions": [{"id": "c", "field": "metadata.number", "op": "eq", "value": number.to_string()}],
                "target": document["routing"]["web_card"]["default"],
            })
        })
        .collect();
    document["routing"]["web_card"]["rules"] = json!(rules);
    document
}

fn is_ready(server: &Server) -> bool {
    server.client("").get("/readyz").status == 200
}

/// A tenant whose configuration is in force.
fn tenant_on(server: &Server) -> Tenant {
    let tenant = Tenant::create(&mut server.admin());
    tenant.configure(&mut server.admin(), FIRST_MARKER);
    tenant
}

/// The file that may not grow any further is the log, which every commit is appended to.
#[test]
fn a_server_whose_log_cannot_grow_is_not_ready_until_it_can() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        skipped("prlimit of util-linux is not installed");
        return;
    }
    let server = Start::serve().ignoring_file_size_limits().run();
    let tenant = tenant_on(&server);
    let allow = |size: &str| {
        let (pid, size) = (server.pid().to_string(), format!("--fsize={size}"));
        assert!(Command::new("prlimit").args(["--pid", &pid, &size]).status().unwrap().success());
    };
    let log = fs::metadata(server.data_dir.join("tollgate.db-wal")).unwrap().len();
    allow(&format!("{}:", log + ROOM));
    // A commit that breaks off while it is written is not known to have failed.
    let refused = server.admin().put(&tenant.path("/config"), &large_document()).failure(503);
    assert!(["store_unavailable", "outcome_unknown"].contains(&refused.as_str()), "{refused}");
    let answer = server.client("").get("/readyz");
    assert_eq!(answer.failure(503), "store_unavailable", "a page would fit, and a unit of work does not");
    server.client("").get("/healthz").data(200);
    allow("unlimited:");
    wait_until("there is room again", SOON, || is_ready(&server));
    server.admin().put(&tenant.path("/config"), &large_document()).data(200);
}

/// A small file system of its own, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=12m", "tmpfs"]).arg(at).output();
        mount.is_ok_and(|output| output.status.success()).then(|| Self(at.to_owned()))
    }

    /// Takes all space but `ROOM`.
    fn fill(&self) {
        let found = rustix::fs::statvfs(&self.0).unwrap();
        let free = usize::try_from(found.f_bavail * found.f_frsize - ROOM).unwrap();
        fs::write(self.filler(), vec![0; free]).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_server_on_a_full_disk_is_not_ready_before_anything_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk")) else {
        skipped("mounting a small file system is not permitted");
        return;
    };
    let server = Start::serve().within(&disk.0).run();
    let tenant = tenant_on(&server);
    assert!(is_ready(&server), "little room is enough");
    disk.fill();
    wait_until("a full disk is noticed", SOON, || !is_ready(&server));
    let refused = server.admin().put(&tenant.path("/config"), &large_document());
    assert_eq!(refused.failure(503), "store_unavailable");
    assert!(!is_ready(&server));
    fs::remove_file(disk.filler()).unwrap();
    wait_until("there is room again", SOON, || is_ready(&server));
    server.admin().put(&tenant.path("/config"), &large_document()).data(200);
}
