//! Holds the table of what the real providers do against the tests that it names.

use std::{
    fs,
    path::{Path, PathBuf},
};

const DOCUMENT: &str = "docs/providers.md";
const SECTION: &str = "What the real providers do";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// The rows of the table, by their cells.
fn rows() -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(DOCUMENT)).unwrap();
    let section = text.split("\n## ").find(|part| part.starts_with(SECTION)).unwrap();
    let lines = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    lines
        .map(|line| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// The texts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// What the tests are called is read from their sources, which every other test run compiles.
#[test]
fn every_behavior_names_where_it_is_documented_and_a_test_that_exists() {
    let rows = rows();
    assert!(rows.len() >= 25, "{}", rows.len());
    let mut code = String::new();
    sources(&root().join("crates"), &mut code);
    for row in &rows {
        let [_, _, documented, _, tests] = row.as_slice() else { panic!("not five cells: {row:?}") };
        assert!(documented.contains("https://"), "{row:?}");
        assert!(quoted(tests).count() > 0, "{row:?}");
        for name in quoted(tests) {
            let last = name.rsplit("::").next().unwrap();
            let exists = if name.contains('/') {
                root().join("crates").join(name).is_file()
            } else {
                code.contains(&format!("fn {last}(")) || code.contains(&format!("mod {last};"))
            };
            assert!(exists, "{DOCUMENT} names {name}, which is not there");
        }
    }
}
