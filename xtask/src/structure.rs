//! Which file of a crate uses which, and which of them use each other in a circle.
//!
//! Read from the text: `use` declarations and paths that begin with `crate`, `self` or `super`. A name that a module hands on with
//! `pub use` counts for the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use crate::lines::{product_files, without_tests};
use crate::step::Outcome;

/// Circles that are there today. The list only gets shorter: a circle that is gone leaves it, and no other joins.
#[cfg(test)]
const KNOWN: &str = include_str!("../circles.txt");

/// Prints every circle, and what ties it.
pub(crate) fn print() -> Outcome<()> {
    let crates = read()?;
    let mut count = 0;
    for source in crates.values() {
        let edges = source.edges();
        for circle in source.circles() {
            count += 1;
            println!("{}", circle.join(" "));
            for (from, to) in edges.iter().filter(|(from, to)| circle.contains(from) && circle.contains(to)) {
                println!("  {from} -> {to}");
            }
        }
    }
    println!("{count} circles");
    Ok(())
}

fn read() -> Outcome<BTreeMap<String, Source>> {
    let mut crates: BTreeMap<String, Source> = BTreeMap::new();
    for (path, text) in product_files()? {
        let mut parts = path.splitn(4, '/');
        let (Some(_), Some(name), Some(_), Some(inner)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let source = crates.entry(name.to_owned()).or_default();
        source.modules.insert(module_of(inner), Module::parse(&path, &without_tests(&text)));
    }
    Ok(crates)
}

/// `a/b.rs` and `a/b/mod.rs` are the module `a::b`, the roots are the empty one.
fn module_of(inner: &str) -> Vec<String> {
    let path = inner.strip_suffix(".rs").unwrap_or(inner);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" || path == "main" {
        return Vec::new();
    }
    path.split('/').map(str::to_owned).collect()
}

/// The modules of a crate by their paths.
#[derive(Default)]
struct Source {
    modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Debug, Default)]
struct Module {
    file: String,
    /// Paths of private declarations and of code.
    uses: BTreeSet<String>,
    /// Names that are handed on, with the path behind each.
    exports: BTreeMap<String, String>,
}

impl Module {
    fn parse(file: &str, text: &str) -> Self {
        let mut module = Self { file: file.to_owned(), ..Self::default() };
        let text: String = text.lines().map(code_of).collect::<Vec<_>>().join("\n");
        let mut rest = text.as_str();
        while let Some((before, declaration, after)) = next_declaration(rest) {
            module.uses.extend(paths_in(before));
            let (is_public, tree) = declaration;
            for path in expand(tree) {
                let (path, name) = match path.split_once(" as ") {
                    Some((path, name)) => (path.trim().to_owned(), name.trim().to_owned()),
                    None => (path.clone(), path.rsplit("::").next().unwrap_or_default().to_owned()),
                };
                if is_public {
                    module.exports.insert(name, path);
                } else {
                    module.uses.insert(path);
                }
            }
            rest = after;
        }
        module.uses.extend(paths_in(rest));
        module
    }
}

/// A line without its comment. Nobody writes `//` in a string that has a path of ours behind it.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// What stands before the next `use` declaration, whether it is public with its tree, and what stands behind it.
fn next_declaration(text: &str) -> Option<(&str, (bool, &str), &str)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find("use ")?;
        let line = text.get(..start)?.rsplit('\n').next().unwrap_or_default().trim();
        let is_declaration = line.is_empty()
            || (line.starts_with("pub") && !line.contains(' '))
            || line.starts_with("pub(in ");
        if is_declaration {
            let behind = text.get(start + 4..)?;
            let end = behind.find(';')?;
            return Some((
                text.get(..start)?,
                (!line.is_empty(), behind.get(..end)?),
                behind.get(end + 1..)?,
            ));
        }
        from = start + 4;
    }
}

/// `a::{b, c::{d, self}}` as `a::b`, `a::c::d`, `a::c`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, inner)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let mut depth = 0_usize;
    let mut parts = vec![String::new()];
    for letter in inner.chars() {
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth = match letter {
                    '{' => depth + 1,
                    '}' => depth.saturating_sub(1),
                    _ => depth,
                };
                if let Some(part) = parts.last_mut() {
                    part.push(letter);
                }
            }
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    let full = parts.flat_map(expand).map(|part| match part.as_str() {
        "self" => prefix.trim_end_matches("::").to_owned(),
        _ => format!("{prefix}{part}"),
    });
    full.collect()
}

/// The paths of code that begin where a crate's own paths begin.
fn paths_in(text: &str) -> impl Iterator<Item = String> {
    let is_of_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = text.split(move |letter| !is_of_path(letter));
    let own =
        words.filter(|word| ["crate::", "self::", "super::"].iter().any(|start| word.starts_with(start)));
    own.map(|word| word.trim_end_matches(':').to_owned()).collect::<Vec<_>>().into_iter()
}

impl Source {
    /// Which file uses which.
    fn edges(&self) -> BTreeSet<(String, String)> {
        let mut edges = BTreeSet::new();
        for (at, module) in &self.modules {
            for path in &module.uses {
                let segments: Vec<&str> = path.split("::").map(str::trim).collect();
                if let Some(file) = self.file_of(at, &segments, 0)
                    && file != module.file
                {
                    edges.insert((module.file.clone(), file.to_owned()));
                }
            }
        }
        edges
    }

    /// The file that defines what a path leads to, seen from a module; `None` for what is not the crate's own.
    fn file_of(&self, at: &[String], segments: &[&str], depth: usize) -> Option<&str> {
        let mut module = at.to_vec();
        let mut rest = segments;
        match *rest.first()? {
            "crate" => {
                module.clear();
                rest = rest.get(1..)?;
            }
            "self" => rest = rest.get(1..)?,
            "super" => {
                while rest.first() == Some(&"super") {
                    module.pop();
                    rest = rest.get(1..)?;
                }
            }
            first => {
                let mut child = module.clone();
                child.push(first.to_owned());
                if !self.modules.contains_key(&child) {
                    return None;
                }
            }
        }
        while let Some(first) = rest.first() {
            module.push((*first).to_owned());
            if !self.modules.contains_key(&module) {
                module.pop();
                break;
            }
            rest = rest.get(1..)?;
        }
        // An inline module, or a name: what its file hands on is defined elsewhere.
        let defining = self.modules.get(&module)?;
        let exported = rest.first().and_then(|name| defining.exports.get(*name));
        if let Some(exported) = exported.filter(|_| depth < 8) {
            let behind: Vec<&str> = exported.split("::").map(str::trim).collect();
            if let Some(file) = self.file_of(&module, &behind, depth + 1) {
                return Some(file);
            }
        }
        Some(&defining.file)
    }

    /// The files that can be reached from each other, as groups of two and more.
    fn circles(&self) -> Vec<Vec<String>> {
        let mut uses: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (from, to) in self.edges() {
            uses.entry(from).or_default().push(to);
        }
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            uses.keys().map(|file| (file.as_str(), reached_from(file, &uses))).collect();
        let mut circles = BTreeSet::new();
        for (file, others) in &reached {
            let is_back = |other: &&str| reached.get(other).is_some_and(|back| back.contains(file));
            let circle: Vec<String> = others.iter().copied().filter(is_back).map(str::to_owned).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }
}

fn reached_from<'a>(file: &str, uses: &'a BTreeMap<String, Vec<String>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![file];
    while let Some(file) = open.pop() {
        for to in uses.get(file).into_iter().flatten() {
            if reached.insert(to.as_str()) {
                open.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(files: &[(&str, &str)]) -> Source {
        let modules = files.iter().map(|(path, text)| (module_of(path), Module::parse(path, text)));
        Source { modules: modules.collect() }
    }

    fn check(files: &[(&str, &str)], expected: &[(&str, &str)]) {
        let edges = source(files).edges();
        let edges: Vec<_> = edges.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        assert_eq!(edges, expected);
    }

    #[test]
    fn files_use_what_their_declarations_and_paths_name() {
        check(
            &[
                ("lib.rs", "mod a;\nmod b;\npub use b::c::Thing;\n"),
                ("a.rs", "use crate::{Thing, b::{self, c::{Other as O}}};\nuse std::fmt;\n"),
                ("b.rs", "mod c;\nfn f() { crate::a::g(); } // crate::lib\n"),
                ("b/c.rs", "use super::f;\npub(crate) use self::x;\n"),
            ],
            &[("a.rs", "b.rs"), ("a.rs", "b/c.rs"), ("b.rs", "a.rs"), ("b/c.rs", "b.rs")],
        );
    }

    #[test]
    fn a_circle_is_found_whole() {
        let circular = source(&[
            ("lib.rs", "mod a;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::{\n    c::C,\n};"),
            ("c.rs", "fn c() -> crate::a::A {}"),
            ("d.rs", "use crate::a::A;"),
        ]);
        assert_eq!(circular.circles(), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn no_circle_joins_the_known_ones() {
        let known: BTreeSet<&str> = KNOWN.lines().collect();
        let crates = read().unwrap();
        let circles: Vec<String> =
            crates.values().flat_map(Source::circles).map(|files| files.join(" ")).collect();
        let circles: BTreeSet<&str> = circles.iter().map(String::as_str).collect();
        let more: Vec<_> = circles.difference(&known).collect();
        assert!(more.is_empty(), "files that use each other; `cargo xtask structure` says how: {more:#?}");
        let gone: Vec<_> = known.difference(&circles).collect();
        assert!(gone.is_empty(), "these are gone; take them out of xtask/circles.txt: {gone:#?}");
    }
}
