//! Counts the product's lines: every line of Rust that is not blank, comments included, in what ships.
//!
//! Left out are tests (`tests.rs`, `tests/`, whatever is marked `#[cfg(test)]`), the suite that both stores have to pass,
//! and the crates that stand beside the product.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use crate::step::Outcome;

/// Places that are not in the binary.
const BESIDE_THE_PRODUCT: [&str; 4] =
    ["crates/bench/", "crates/drill/", "crates/simulation/", "crates/store-conformance/"];

/// Prints lines per crate now, or at a commit and now.
pub(crate) fn print(at: Option<&str>) -> Outcome<()> {
    let now = count(None)?;
    let before = at.map(|commit| count(Some(commit))).transpose()?;
    println!(
        "Lines of Rust that are not blank, comments included, without tests, benchmarks and simulation.\n"
    );
    let Some((before, commit)) = before.zip(at) else {
        for (name, lines) in &now {
            println!("{name:<16}{lines:>8}");
        }
        println!("{:<16}{:>8}", "total", total(&now));
        return Ok(());
    };
    let commit: String = commit.chars().take(10).collect();
    println!("{:<16}{commit:>12}{:>8}", "", "now");
    let names: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let of = |counted: &Counted, name: &str| counted.get(name).copied().unwrap_or_default();
    for name in names {
        println!("{name:<16}{:>12}{:>8}", of(&before, name), of(&now, name));
    }
    println!("{:<16}{:>12}{:>8}", "total", total(&before), total(&now));
    Ok(())
}

/// The product's files with their texts.
pub(crate) fn product_files() -> Outcome<BTreeMap<String, String>> {
    let listing = git(&["ls-files", "--cached", "--others", "--exclude-standard", "crates"])?;
    let mut files = BTreeMap::new();
    for path in listing.lines().filter(|path| is_product(path)) {
        files.insert(path.to_owned(), std::fs::read_to_string(root().join(path)).unwrap_or_default());
    }
    Ok(files)
}

/// A file's text without what is only compiled for tests.
pub(crate) fn without_tests(text: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        let Some(item) = lines.by_ref().find(|line| !line.trim_start().starts_with("#[")) else { break };
        if !item.ends_with([';', '}', ',']) {
            lines.by_ref().find(|line| !line.trim().is_empty() && indent(line) <= indent(item));
        }
    }
    kept.join("\n")
}

/// Lines by crate.
type Counted = BTreeMap<String, usize>;

fn total(counted: &Counted) -> usize {
    counted.values().sum()
}

fn count(commit: Option<&str>) -> Outcome<Counted> {
    let listing = match commit {
        Some(commit) => git(&["ls-tree", "-r", "--name-only", commit, "crates"])?,
        None => git(&["ls-files", "--cached", "--others", "--exclude-standard", "crates"])?,
    };
    let mut files = BTreeMap::new();
    let mut tests = BTreeSet::new();
    for path in listing.lines().filter(|path| is_product(path)) {
        let text = match commit {
            Some(commit) => git(&["show", &format!("{commit}:{path}")])?,
            // Listed, and removed since.
            None => std::fs::read_to_string(root().join(path)).unwrap_or_default(),
        };
        let counted = count_file(&text);
        let folder = folder_of_modules(path);
        tests.extend(counted.test_modules.iter().map(|module| format!("{folder}/{module}")));
        files.insert(path, counted.lines);
    }
    let mut counted = Counted::new();
    for (path, lines) in files {
        let module = path.strip_suffix(".rs").unwrap_or(path);
        let is_test = tests.iter().any(|test| module == test || path.starts_with(&format!("{test}/")));
        if !is_test {
            let name = path.split('/').nth(1).unwrap_or_default();
            *counted.entry(name.to_owned()).or_default() += lines;
        }
    }
    Ok(counted)
}

fn is_product(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|it| it == "rs")
        && path.split('/').nth(2) == Some("src")
        && !path.ends_with("/tests.rs")
        && !path.contains("/tests/")
        && !BESIDE_THE_PRODUCT.iter().any(|place| path.starts_with(place))
}

/// Where a file's `mod name;` leads: `a/mod.rs` to `a/name`, `a/b.rs` to `a/b/name`.
fn folder_of_modules(path: &str) -> &str {
    let roots = ["/mod.rs", "/lib.rs", "/main.rs"];
    let root = roots.iter().find_map(|root| path.strip_suffix(root));
    root.or_else(|| path.strip_suffix(".rs")).unwrap_or(path)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct CountedFile {
    lines: usize,
    test_modules: Vec<String>,
}

/// Relies on the formatter: an item ends on its first line, or on the next line that is indented as little as that.
fn count_file(text: &str) -> CountedFile {
    let mut counted = CountedFile::default();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            counted.lines += 1;
            continue;
        }
        let Some(item) = lines.by_ref().find(|line| !line.trim_start().starts_with("#[")) else { break };
        if let Some(module) = item.trim().strip_suffix(';').and_then(|item| item.strip_prefix("mod ")) {
            counted.test_modules.push(module.to_owned());
        }
        if !item.ends_with([';', '}', ',']) {
            lines.by_ref().find(|line| indent(line) <= indent(item));
        }
    }
    counted
}

/// The folder that the crates are in, wherever this runs.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn git(arguments: &[&str]) -> Outcome<String> {
    let output = Command::new("git").arg("-C").arg(root()).args(arguments).output();
    let output = output.map_err(|error| format!("git could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "git {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, lines: usize, test_modules: &[&str]) {
        let test_modules = test_modules.iter().map(ToString::to_string).collect();
        assert_eq!(count_file(text), CountedFile { lines, test_modules }, "{text}");
    }

    #[test]
    fn comments_count_and_blank_lines_and_tests_do_not() {
        check("", 0, &[]);
        check("//! Why.\n\nfn a() {\n    b();\n}\n", 4, &[]);
        check("mod a;\n#[cfg(test)]\nmod plans;\nmod b;\n", 2, &["plans"]);
        check("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n", 1, &[]);
        check(
            "impl A {\n    #[cfg(test)]\n    #[must_use]\n    fn b() {\n        c();\n    }\n    fn d() {}\n}\n",
            3,
            &[],
        );
        check("#[cfg(test)]\nuse a::B;\nfn c() {}\n", 1, &[]);
    }

    #[test]
    fn only_what_ships_is_product() {
        for (path, expected) in [
            ("crates/store/src/sqlite/mod.rs", true),
            ("crates/store-conformance/src/ledger.rs", false),
            ("crates/store/tests/sqlite.rs", false),
            ("crates/server/src/tests.rs", false),
            ("crates/server/src/tests/fields.rs", false),
            ("crates/bench/src/main.rs", false),
            ("crates/console/src/script.js", false),
        ] {
            assert_eq!(is_product(path), expected, "{path}");
        }
    }

    #[test]
    fn modules_are_found_where_the_compiler_finds_them() {
        assert_eq!(folder_of_modules("crates/a/src/lib.rs"), "crates/a/src");
        assert_eq!(folder_of_modules("crates/a/src/b/mod.rs"), "crates/a/src/b");
        assert_eq!(folder_of_modules("crates/a/src/b.rs"), "crates/a/src/b");
    }
}
