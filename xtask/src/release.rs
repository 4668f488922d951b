//! What a release says of itself: one version everywhere, and the changelog's section about it.

use std::{fs, io};

use crate::step::Outcome;

/// Where the version stands, and the text right before it.
const VERSIONS: &[(&str, &str)] = &[
    ("Cargo.toml", "\n[workspace.package]\nversion = \""),
    ("sdk/typescript/package.json", "\"version\": \""),
    ("sdk/python/pyproject.toml", "\nversion = \""),
    ("deploy/chart/Chart.yaml", "\nversion: \""),
    ("deploy/chart/Chart.yaml", "\nappVersion: \""),
];

/// The changelog's section of what comes with the next release.
const UNRELEASED: &str = "Unreleased";

/// What the server has at `/tollgate.js`, and what it had in releases.
const BROWSER_SCRIPT: &str = "sdk/typescript/src/browser.js";
const RELEASED_SCRIPTS: &str = "sdk/typescript/released";

/// Prints the notes of the release with this tag.
pub(crate) fn print_notes(tag: &str) -> Outcome<()> {
    let version = tag.strip_prefix('v').ok_or_else(|| format!("`{tag}` is not a tag such as v1.2.3"))?;
    let read = |file: &str| fs::read_to_string(file).map_err(|error| format!("{file}: {error}"));
    for (file, before) in VERSIONS {
        let text = read(file)?;
        let found = value_after(&text, before).ok_or_else(|| format!("{file} names no version"))?;
        if found != version {
            return Err(format!("{file} has version {found}, and the tag is {tag}"));
        }
    }
    let [workspace, binary, npm] =
        ["Cargo.toml", "crates/tollgate/Cargo.toml", "sdk/typescript/package.json"].map(read);
    check_repository(&workspace?, &binary?, &npm?)?;
    if !released_scripts()?.contains(&read(BROWSER_SCRIPT)?) {
        return Err(format!(
            "{RELEASED_SCRIPTS} lacks this release's script: cp {BROWSER_SCRIPT} {RELEASED_SCRIPTS}/tollgate-$(sha384sum {BROWSER_SCRIPT} | \
             cut -c 1-16).js, and name it in crates/server/src/browser_script.rs"
        ));
    }
    println!("{}", notes(&read("CHANGELOG.md")?, version)?);
    Ok(())
}

/// Whether the project's address stands where it is needed: `cargo binstall` downloads from it, and npm publishes with provenance only what
/// names the repository it was built in.
fn check_repository(workspace: &str, binary: &str, npm: &str) -> Outcome<()> {
    let missing = |file: &str| format!("{file} names no repository, see *Once* in docs/releasing.md");
    let address = value_after(workspace, "\nrepository = \"").ok_or_else(|| missing("Cargo.toml"))?;
    if !binary.contains("\nrepository.workspace = true") {
        return Err(missing("crates/tollgate/Cargo.toml"));
    }
    let file = "sdk/typescript/package.json";
    let published = value_after(npm, "\"repository\": \"").ok_or_else(|| missing(file))?;
    if published == format!("git+{address}.git") {
        Ok(())
    } else {
        Err(format!("{file} has the repository {published}, and Cargo.toml {address}"))
    }
}

fn released_scripts() -> Outcome<Vec<String>> {
    let scripts = || -> io::Result<_> {
        fs::read_dir(RELEASED_SCRIPTS)?.map(|file| fs::read_to_string(file?.path())).collect()
    };
    scripts().map_err(|error| format!("{RELEASED_SCRIPTS}: {error}"))
}

fn value_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split('"').next()
}

/// The section of a version, without its heading. Nothing may be left that is in no release.
fn notes<'a>(changelog: &'a str, version: &str) -> Outcome<&'a str> {
    let rename =
        format!("rename `## {UNRELEASED}` to `## {version}` and begin an empty `## {UNRELEASED}` above it");
    let Some(text) = section(changelog, version) else {
        return Err(format!("CHANGELOG.md has no section `## {version}`: {rename}"));
    };
    if section(changelog, UNRELEASED).is_some_and(|left| !left.is_empty()) {
        return Err(format!(
            "CHANGELOG.md still has changes in `## {UNRELEASED}`: move them to `## {version}`, and leave the heading"
        ));
    }
    if text.is_empty() { Err(format!("CHANGELOG.md says nothing of {version}: {rename}")) } else { Ok(text) }
}

/// What is below the heading that begins with this word.
fn section<'a>(changelog: &'a str, word: &str) -> Option<&'a str> {
    let mut sections = changelog.split("\n## ").skip(1);
    let found = sections.find(|section| section.split_whitespace().next() == Some(word))?;
    Some(found.split_once('\n').map_or("", |(_, text)| text).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_the_section_of_the_version() {
        let changelog = "# Changelog\n\n## Unreleased\n\n## 1.10.0 (2026-01-02)\n\n### Added\n\n- A thing.\n\n## 1.1.0\n\n- B.\n";
        assert_eq!(notes(changelog, "1.10.0"), Ok("### Added\n\n- A thing."));
        assert_eq!(notes(changelog, "1.1.0"), Ok("- B."));
        assert_eq!(notes("# Changelog\n\n## 1.0.0\n\n- A.\n", "1.0.0"), Ok("- A."));
    }

    #[test]
    fn notes_leave_nothing_out() {
        for (changelog, said) in [
            (
                "# Changelog\n\n## Unreleased\n\n- A.\n\n## 1.1.0\n\n- B.\n",
                "no section `## 1.1`: rename `## Unreleased`",
            ),
            (
                "# Changelog\n\n## Unreleased\n\n- A.\n\n## 1.1\n\n- B.\n",
                "still has changes in `## Unreleased`: move",
            ),
            ("# Changelog\n\n## Unreleased\n\n## 1.1\n", "says nothing of 1.1: rename"),
        ] {
            let fault = notes(changelog, "1.1").unwrap_err();
            assert!(fault.contains(said), "{fault}");
        }
    }

    #[test]
    fn a_release_names_its_repository_wherever_that_is_needed() {
        let (none, binary) = ("", "\nrepository.workspace = true\n");
        let workspace = "[workspace.package]\nrepository = \"https://git.example/them/tollgate\"\n";
        let npm = |address: &str| format!("{{\n  \"repository\": \"{address}\",\n");
        let same = npm("git+https://git.example/them/tollgate.git");
        assert_eq!(check_repository(workspace, binary, &same), Ok(()));
        let other = npm("git+https://git.example/others/tollgate.git");
        for (workspace, binary, npm, file) in [
            (none, binary, &*same, "Cargo.toml names no"),
            (workspace, none, &same, "crates/tollgate/Cargo.toml names no"),
            (workspace, binary, none, "sdk/typescript/package.json names no"),
            (workspace, binary, &other, "sdk/typescript/package.json has"),
        ] {
            let said = check_repository(workspace, binary, npm).unwrap_err();
            assert!(said.starts_with(file), "{said}");
        }
    }

    #[test]
    fn everything_in_the_repository_has_one_version() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        for (file, before) in VERSIONS {
            let text = fs::read_to_string(format!("{root}/{file}")).unwrap();
            assert_eq!(value_after(&text, before), Some(env!("CARGO_PKG_VERSION")), "{file}");
        }
    }
}
