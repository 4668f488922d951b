//! Holds the checklist for a new provider against the code.

use std::{
    fs,
    path::{Path, PathBuf},
};

const ADAPTERS: [&str; 5] = ["stripe", "square", "adyen", "increase", "modern_treasury"];
/// Crates whose files are not part of the product.
const NOT_PRODUCT: [&str; 4] = ["bench", "drill", "simulation", "store-conformance"];
/// Files that name a provider in a comment or in a message only.
const MENTIONS: [&str; 8] = [
    // Guides by their names.
    "crates/docs/src/documents.rs",
    "crates/domain/src/metadata.rs",
    "crates/providers/src/settings.rs",
    "crates/providers/src/stripe/form.rs",
    "crates/server/src/reference/configuration.rs",
    "crates/simulator/src/page.rs",
    "crates/simulator/src/signature.rs",
    "crates/store/src/postgres/card_payments.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The paths in the first column of a section's table.
fn listed(section: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/adding-a-provider.md")).unwrap();
    let section = text.split("\n## ").find(|part| part.starts_with(section)).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once('`')).map(|(path, _)| path.to_owned()).collect()
}

/// Whether the product part of a source names an adapter as a word or at the start of a type's name.
fn names(source: &str, adapter: &str) -> bool {
    let product = source.split("#[cfg(test)]").next().unwrap_or_default();
    // A name of two words is taken for one, as types write it.
    let one_word = adapter.replace('_', "");
    let (product, adapter) = (product.replace(adapter, &one_word), one_word.as_str());
    let code: Vec<_> = product.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let mut words = code.iter().flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()));
    words.any(|word| {
        word == adapter
            || word.to_ascii_lowercase().starts_with(adapter) && word.starts_with(char::is_uppercase)
    })
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_adapter_has_the_files_of_the_checklist() {
    let listed = listed("New files");
    assert!(listed.len() >= 10, "{listed:?}");
    for adapter in ADAPTERS {
        for path in &listed {
            let path = path.replace("NAME", adapter);
            assert!(root().join(&path).is_file(), "{path} is on the checklist and does not exist");
        }
    }
}

#[test]
fn every_place_to_register_names_every_adapter() {
    let listed = listed("Places to register it");
    assert!(listed.len() >= 10, "{listed:?}");
    for path in listed {
        let source = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        for adapter in ADAPTERS {
            assert!(names(&source, adapter), "{path} is on the checklist and does not name {adapter}");
        }
    }
}

#[test]
fn no_other_product_file_names_an_adapter() {
    let listed = listed("Places to register it");
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let is_product = !NOT_PRODUCT.iter().any(|name| entry.file_name() == *name);
        if is_product {
            sources(&entry.path().join("src"), &mut found);
        }
    }
    assert!(found.len() > 300, "{}", found.len());
    for path in found {
        let relative = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let is_test = relative.contains("conformance") || relative.ends_with("tests.rs");
        if is_test || listed.contains(&relative) || MENTIONS.contains(&relative.as_str()) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for adapter in ADAPTERS {
            let is_its_own = relative.contains(&format!("/{adapter}"));
            assert!(
                is_its_own || !names(&source, adapter),
                "{relative} names {adapter}: put it on the checklist in docs/adding-a-provider.md, or ask for a capability"
            );
        }
    }
}

#[test]
fn every_adapter_has_its_table_of_statuses_and_its_description() {
    let suite = "crates/providers/tests/it/conformance/descriptions.rs";
    let suite = fs::read_to_string(root().join(suite)).unwrap();
    for adapter in ADAPTERS {
        let table = format!("crates/providers/src/{adapter}/status.rs");
        let source = fs::read_to_string(root().join(&table)).unwrap();
        assert!(source.contains("fn every_state_of_"), "{table} has no test of every state");
        let description = format!("const {}: Description", adapter.to_uppercase());
        assert!(suite.contains(&description), "{adapter} has no description for the conformance suite");
    }
}

/// The number of lines that the newest provider takes outside its own folders is the one that is told.
#[test]
fn a_provider_takes_as_few_lines_as_is_told() {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let names_it = |line: &&str| line.to_lowercase().replace('_', "").contains("moderntreasury");
    let places = listed("Places to register it");
    let taken: usize = places
        .iter()
        .map(|path| {
            let source = fs::read_to_string(root().join(path)).unwrap();
            let product = source.split("#[cfg(test)]").next().unwrap_or_default();
            product.lines().filter(is_code).filter(names_it).count()
        })
        .sum();
    let text = fs::read_to_string(root().join("docs/adding-a-provider.md")).unwrap();
    let told = format!("Modern Treasury takes {taken} lines in {} files", places.len());
    assert!(text.contains(&told), "docs/adding-a-provider.md should say: {told}");
}
