//! What the binary is made of, as a CycloneDX document: every crate with its version, license and checksum. Cargo knows all
//! of it, so that no other tool is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::cargo;
use crate::step::Outcome;

const PRODUCT: &str = "tollgate";
const FILE: &str = "target/tollgate.cdx.json";

/// A crate, as `cargo tree` names it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Component {
    name: String,
    version: String,
    license: String,
}

pub(crate) fn write() -> Outcome<()> {
    let tree = cargo::command()
        .args(["tree", "--locked", "--package", PRODUCT, "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}|{l}"])
        .output()
        .map_err(|error| format!("cargo tree could not be run: {error}"))?;
    if !tree.status.success() {
        return Err(format!("cargo tree failed: {}", String::from_utf8_lossy(&tree.stderr)));
    }
    let lock = fs::read_to_string("Cargo.lock").map_err(|error| format!("Cargo.lock: {error}"))?;
    let components = components(&String::from_utf8_lossy(&tree.stdout));
    let document = document(&components, &checksums(&lock))?;
    let file = Path::new(FILE);
    fs::write(file, document).map_err(|error| format!("{}: {error}", file.display()))?;
    println!("{}: {} components", file.display(), components.len());
    Ok(())
}

/// Reads lines such as `aead v0.6.1|MIT OR Apache-2.0 (*)` and `tollgate v0.1.0 (/source/crates/tollgate)|Apache-2.0`.
fn components(tree: &str) -> BTreeSet<Component> {
    let component = |line: &str| {
        let (package, license) = line.trim_end_matches(" (*)").split_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        // Two spellings of the same.
        let license = license.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
        Some(Component { name: name.to_owned(), version: version.to_owned(), license })
    };
    tree.lines().filter_map(component).collect()
}

/// The checksums of a lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]").skip(1);
    packages
        .filter_map(|package| {
            Some(((field(package, "name")?, field(package, "version")?), field(package, "checksum")?))
        })
        .collect()
}

fn document(
    components: &BTreeSet<Component>,
    checksums: &BTreeMap<(String, String), String>,
) -> Outcome<String> {
    let product = components.iter().find(|component| component.name == PRODUCT);
    let product = product.ok_or_else(|| format!("cargo tree does not name {PRODUCT}"))?;
    let others: Vec<String> = components
        .iter()
        .filter(|component| component.name != PRODUCT)
        .map(|component| {
            let key = (component.name.clone(), component.version.clone());
            entry(component, "library", checksums.get(&key))
        })
        .collect();
    Ok(format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"metadata\": {{\"component\": \
         {}}},\n  \"components\": [\n    {}\n  ]\n}}\n",
        entry(product, "application", None),
        others.join(",\n    ")
    ))
}

fn entry(component: &Component, kind: &str, checksum: Option<&String>) -> String {
    let Component { name, version, license } = component;
    let package = format!("pkg:cargo/{name}@{version}");
    let license = quoted(license);
    let (name, version, package) = (quoted(name), quoted(version), quoted(&package));
    let hashes = checksum.map_or_else(String::new, |checksum| {
        format!(", \"hashes\": [{{\"alg\": \"SHA-256\", \"content\": {}}}]", quoted(checksum))
    });
    format!(
        "{{\"type\": \"{kind}\", \"bom-ref\": {package}, \"name\": {name}, \"version\": {version}, \"purl\": {package}, \
         \"licenses\": [{{\"expression\": {license}}}]{hashes}}}"
    )
}

/// Names, versions and licenses have nothing in them that JSON escapes but these.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_every_crate_once() {
        let tree = "tollgate v0.1.0 (/source/crates/tollgate)|Apache-2.0\naead v0.6.1|MIT/Apache-2.0\n\n\
                    macros v1.2.0 (proc-macro)|MIT\naead v0.6.1|MIT/Apache-2.0 (*)\n";
        let lock = "version = 4\n\n[[package]]\nname = \"aead\"\nversion = \"0.6.1\"\nchecksum = \"19ab\"\n\n\
                    [[package]]\nname = \"tollgate\"\nversion = \"0.1.0\"\n";
        let found = components(tree);
        assert_eq!(found.len(), 3);
        let text = document(&found, &checksums(lock)).unwrap();
        assert!(text.contains(
            "{\"type\": \"library\", \"bom-ref\": \"pkg:cargo/aead@0.6.1\", \"name\": \"aead\", \"version\": \"0.6.1\", \
             \"purl\": \"pkg:cargo/aead@0.6.1\", \"licenses\": [{\"expression\": \"MIT OR Apache-2.0\"}], \"hashes\": \
             [{\"alg\": \"SHA-256\", \"content\": \"19ab\"}]}"
        ));
        assert!(text.contains("\"metadata\": {\"component\": {\"type\": \"application\""));
        assert_eq!(text.matches("\"type\": \"library\"").count(), 2);
        assert!(document(&BTreeSet::new(), &BTreeMap::new()).is_err());
    }
}
