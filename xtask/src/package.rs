//! Packages for Linux: a `.deb`, an `.rpm` where there is `rpmbuild`, and an archive for `cargo binstall` and everybody else. Nothing of
//! them depends on when or where they are made.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Outcome, step};
use crate::tools;

/// Where packages are put.
pub(crate) const FOLDER: &str = "target/packages";

const SUMMARY: &str = "Payment orchestration between your backend and your providers";
const MAINTAINER: &str = "The Tollgate authors <tollgate@localhost>";

/// Files of the repository, where they are installed.
const FILES: &[(&str, &str)] = &[
    ("deploy/tollgate.service", "usr/lib/systemd/system/tollgate.service"),
    ("deploy/tollgate.env.example", "usr/share/tollgate/tollgate.env.example"),
    ("deploy/restricted-role.sql", "usr/share/tollgate/restricted-role.sql"),
    ("LICENSE", "usr/share/doc/tollgate/LICENSE"),
    ("NOTICE", "usr/share/doc/tollgate/NOTICE"),
    ("CHANGELOG.md", "usr/share/doc/tollgate/CHANGELOG.md"),
];

/// What the binary prints of itself, where it is installed.
const PRINTED: &[(&[&str], &str)] = &[
    (&["man"], "usr/share/man/man1/tollgate.1"),
    (&["completions", "bash"], "usr/share/bash-completion/completions/tollgate"),
    (&["completions", "zsh"], "usr/share/zsh/vendor-completions/_tollgate"),
    (&["completions", "fish"], "usr/share/fish/vendor_completions.d/tollgate.fish"),
];

/// Where zsh looks for what packages bring: Debian's, and everybody else's.
const ZSH_FOLDERS: [&str; 2] = ["usr/share/zsh/vendor-completions", "usr/share/zsh/site-functions"];

const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// What was made and can be installed.
pub(crate) struct Packages {
    deb: PathBuf,
    /// Where there is `rpmbuild`.
    rpm: Option<PathBuf>,
}

/// Makes the packages of this binary.
pub(crate) fn build(binary: &Path) -> Outcome<Packages> {
    let product = Product::of(binary)?;
    let folder = Path::new(FOLDER);
    let root = folder.join("root");
    within(|| {
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        fs::create_dir_all(&root)
    })?;
    step("Files", || product.lay_out(&root))?;
    let archive = step("Archive", || product.archive(folder, &root))?;
    let deb = step("Debian", || product.debian(folder, &root))?;
    let rpm = if succeeds(Command::new("rpmbuild").arg("--version")) {
        Some(step("RPM", || product.rpm(folder, &root))?)
    } else {
        println!("\nno .rpm: rpmbuild is missing (Debian: `apt-get install rpm`)");
        None
    };
    within(|| fs::remove_dir_all(&root))?;
    println!();
    for file in [&archive, &deb].into_iter().chain(&rpm) {
        let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
        println!("{} ({} KiB)", file.display(), size / 1024);
    }
    Ok(Packages { deb, rpm })
}

/// Installs the packages in a new Debian without compiler, and pays there; upgrades and removes them.
pub(crate) fn try_out(packages: &Packages) -> Outcome<()> {
    tools::ensure_debootstrap()?;
    run(Command::new("bash").arg("deploy/package/try.sh").arg(&packages.deb))?;
    let Some(rpm) = &packages.rpm else { return Ok(()) };
    run(Command::new("bash").arg("deploy/package/try-rpm.sh").arg(rpm))
}

/// What is packaged.
struct Product {
    binary: PathBuf,
    version: String,
    /// In Rust's words, such as `x86_64`.
    machine: &'static str,
    /// Of the newest commit, so that a package does not depend on when it is made.
    committed: String,
}

impl Product {
    fn of(binary: &Path) -> Outcome<Self> {
        let printed = output(Command::new(binary).arg("version"))?;
        let printed = String::from_utf8_lossy(&printed);
        let version = printed.trim().strip_prefix("tollgate ").ok_or("the binary prints no version")?;
        let committed = output(Command::new("git").args(["log", "-1", "--format=%ct"]))?;
        Ok(Self {
            binary: binary.to_owned(),
            version: version.to_owned(),
            machine: std::env::consts::ARCH,
            committed: String::from_utf8_lossy(&committed).trim().to_owned(),
        })
    }

    /// Every file where it is installed.
    fn lay_out(&self, root: &Path) -> Outcome<()> {
        place(root, "usr/bin/tollgate", 0o755, || fs::read(&self.binary))?;
        for (from, to) in FILES {
            place(root, to, 0o644, || fs::read(from))?;
        }
        for (arguments, to) in PRINTED {
            let text = output(Command::new(&self.binary).args(*arguments))?;
            place(root, to, 0o644, || Ok(text))?;
        }
        run(Command::new("gzip")
            .args(["--best", "--no-name"])
            .arg(root.join("usr/share/man/man1/tollgate.1")))
    }

    /// The binary alone with what must go with it.
    fn archive(&self, folder: &Path, root: &Path) -> Outcome<PathBuf> {
        let name = format!("tollgate-{}-{}-unknown-linux-gnu", self.version, self.machine);
        let file = folder.join(format!("{name}.tar.gz"));
        let mut tar = Command::new("tar");
        tar.args([
            "--create",
            "--use-compress-program=gzip --no-name",
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
        ])
        .arg(format!("--mtime=@{}", self.committed))
        .arg(format!("--transform=s,^.*/,{name}/,"))
        .arg("--file")
        .arg(&file)
        .arg("--directory")
        .arg(root)
        .args([
            "usr/bin/tollgate",
            "usr/share/doc/tollgate/LICENSE",
            "usr/share/doc/tollgate/NOTICE",
        ]);
        run(&mut tar)?;
        Ok(file)
    }

    fn debian(&self, folder: &Path, root: &Path) -> Outcome<PathBuf> {
        let architecture = match self.machine {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        let control = root.join("DEBIAN");
        let installed_kib = kib_below(root)?;
        let libc = glibc_needed(&self.binary)?;
        let text = format!(
            "Package: tollgate\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {installed_kib}\nDepends: libc6 (>= {libc}), libgcc-s1, passwd\nRecommends: ca-certificates\n\
             Section: net\nPriority: optional\nDescription: {SUMMARY}\n One binary with its console, its documentation and a \
             sandbox.\n",
            version = sortable(&self.version),
        );
        place(root, "DEBIAN/control", 0o644, || Ok(text.into_bytes()))?;
        for script in SCRIPTS {
            place(root, &format!("DEBIAN/{script}"), 0o755, || fs::read(format!("deploy/package/{script}")))?;
        }
        open_folders(root)?;
        let file = folder.join(format!("tollgate_{}_{architecture}.deb", self.version));
        let mut build = Command::new("dpkg-deb");
        build.args(["--root-owner-group", "-Zzstd", "--build"]).arg(root).arg(&file);
        run(build.env("SOURCE_DATE_EPOCH", &self.committed))?;
        within(|| fs::remove_dir_all(&control))?;
        Ok(file)
    }

    fn rpm(&self, folder: &Path, root: &Path) -> Outcome<PathBuf> {
        let script = |name: &str| {
            fs::read_to_string(format!("deploy/package/{name}")).map_err(|error| format!("{name}: {error}"))
        };
        let root = within(|| fs::canonicalize(root))?;
        let folder = within(|| fs::canonicalize(folder))?;
        let [debian, others] = ZSH_FOLDERS.map(|folder| root.join(folder));
        within(|| fs::rename(debian, others))?;
        let mut files = Vec::new();
        collect(&root, &mut files)?;
        let mut listed = String::new();
        for file in files.iter().filter_map(|file| file.strip_prefix(&root).ok()) {
            listed.extend(["/", &*file.to_string_lossy(), "\n"]);
        }
        // What it needs is found by rpmbuild in the binary. Nothing is stripped or compressed once more.
        let spec = format!(
            "Name: tollgate\nVersion: {version}\nRelease: 1\nSummary: {SUMMARY}\nLicense: Apache-2.0\nRequires: shadow-utils\n%global __os_install_post %{{nil}}\n%global debug_package \
             %{{nil}}\n%global use_source_date_epoch_as_buildtime 1\n%global clamp_mtime_to_source_date_epoch 1\n%global _buildhost \
             reproducible\n%description\nOne binary with its console, its documentation and a sandbox.\n%install\ncp -a {root}/. \
             %{{buildroot}}/\n%post\n{post}\n%preun\n{preun}\n%postun\n{postun}\n%files\n%defattr(-,root,root)\n{listed}",
            version = sortable(&self.version),
            root = root.display(),
            post = script("postinst")?,
            preun = script("prerm")?,
            postun = script("postrm")?,
        );
        let spec_file = folder.join("tollgate.spec");
        within(|| fs::write(&spec_file, spec))?;
        let top = folder.join("rpmbuild");
        let name = format!("tollgate-{}-1.{}.rpm", self.version, self.machine);
        let mut build = Command::new("rpmbuild");
        build.args(["-bb", "--quiet", "--define"]).arg(format!("_topdir {}", top.display())).arg("--define");
        build
            .arg(format!("_rpmdir {}", folder.display()))
            .args(["--define", &format!("_build_name_fmt {name}")]);
        run(build.arg(&spec_file).env("SOURCE_DATE_EPOCH", &self.committed))?;
        within(|| fs::remove_file(&spec_file).and_then(|()| fs::remove_dir_all(&top)))?;
        Ok(Path::new(FOLDER).join(name))
    }
}

/// A version as dpkg and rpm take it: what follows the first `-` is before the release, which they write `~`, and rpm knows no other `-`.
fn sortable(version: &str) -> String {
    match version.split_once('-') {
        Some((release, candidate)) => format!("{release}~{}", candidate.replace('-', ".")),
        None => version.to_owned(),
    }
}

/// The newest version of the C library that the binary asks for, by the names in it.
fn glibc_needed(binary: &Path) -> Outcome<String> {
    let bytes = within(|| fs::read(binary))?;
    newest_glibc(&bytes).ok_or_else(|| format!("{} is not linked with glibc", binary.display()))
}

fn newest_glibc(bytes: &[u8]) -> Option<String> {
    const PREFIX: &[u8] = b"GLIBC_2.";
    let minors: BTreeSet<u32> = bytes
        .windows(PREFIX.len() + 3)
        .filter_map(|window| window.strip_prefix(PREFIX))
        .filter_map(|rest| {
            let digits: Vec<u8> = rest.iter().copied().take_while(u8::is_ascii_digit).collect();
            std::str::from_utf8(&digits).ok()?.parse().ok()
        })
        .collect();
    minors.last().map(|minor| format!("2.{minor}"))
}

fn kib_below(root: &Path) -> Outcome<u64> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    let sizes = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|metadata| metadata.len());
    Ok(sizes.sum::<u64>().div_ceil(1024))
}

/// Every file below a folder, by name.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    let mut entries: Vec<PathBuf> =
        within(|| fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect())?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            if entry.file_name() != Some(OsStr::new("DEBIAN")) {
                collect(&entry, files)?;
            }
        } else {
            files.push(entry);
        }
    }
    Ok(())
}

/// Gives this folder and all below it the mode of installed ones, whatever the umask made of them.
fn open_folders(folder: &Path) -> Outcome<()> {
    within(|| fs::set_permissions(folder, Permissions::from_mode(0o755)))?;
    let entries: Vec<PathBuf> =
        within(|| fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect())?;
    entries.iter().filter(|entry| entry.is_dir()).try_for_each(|entry| open_folders(entry))
}

fn place(root: &Path, to: &str, mode: u32, read: impl FnOnce() -> io::Result<Vec<u8>>) -> Outcome<()> {
    let file = root.join(to);
    let write = || {
        let bytes = read()?;
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, bytes)?;
        fs::set_permissions(&file, Permissions::from_mode(mode))
    };
    write().map_err(|error| format!("{to}: {error}"))
}

fn within<T>(work: impl FnOnce() -> io::Result<T>) -> Outcome<T> {
    work().map_err(|error| format!("{FOLDER}: {error}"))
}

fn output(command: &mut Command) -> Outcome<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}

fn run(command: &mut Command) -> Outcome<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_newest_c_library_that_is_asked_for() {
        let names = b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0GLIBC_2.28\0";
        assert_eq!(newest_glibc(names), Some("2.34".to_owned()));
        assert_eq!(newest_glibc(b"static"), None);
    }

    #[test]
    fn a_candidate_is_older_than_its_release() {
        for (version, installed) in [
            ("0.2.0", "0.2.0"),
            ("0.2.0-rc.1", "0.2.0~rc.1"),
            ("1.0.0-alpha-2-b", "1.0.0~alpha.2.b"),
            ("1.0.0+build", "1.0.0+build"),
        ] {
            assert_eq!(sortable(version), installed);
        }
    }

    #[test]
    fn what_is_packaged_has_modes_of_its_own() {
        let root = std::env::temp_dir().join(format!("tollgate-modes-{}", std::process::id()));
        place(&root, "usr/share/doc/file", 0o644, || Ok(Vec::new())).unwrap();
        let paths = ["", "usr", "usr/share", "usr/share/doc"].map(|path| root.join(path));
        for path in &paths {
            fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        }
        open_folders(&root).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let (folders, file) =
            (paths.each_ref().map(|path| mode(path)), mode(&root.join("usr/share/doc/file")));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!((folders, file), ([0o755; 4], 0o644));
    }
}
