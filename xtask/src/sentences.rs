//! Every sentence that a person may read, in one list: messages, log lines, help texts and templates.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::step::Outcome;

/// Sources whose texts reach nobody but developers.
const NOT_SHOWN: [&str; 3] = ["crates/bench", "crates/simulation", "crates/store-conformance"];
/// Where doc comments are help texts.
const HELP: &str = "crates/tollgate/src";

/// Prints the list, ordered by file and line.
pub(crate) fn print() -> Outcome<()> {
    let mut files = Vec::new();
    let failed = |error: io::Error| format!("cannot read the sources: {error}");
    collect(Path::new("crates"), &mut files).map_err(failed)?;
    files.sort();
    for path in files {
        let source = fs::read_to_string(&path).map_err(failed)?;
        let texts = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => of_rust(&source, path.starts_with(HELP)),
            _ => of_template(&source),
        };
        for (line, text) in texts {
            println!("{}:{line}: {text}", path.display());
        }
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_shown = !NOT_SHOWN.iter().any(|folder| path.starts_with(folder));
        if path.is_dir() && is_shown && !path.ends_with("tests") {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "html") {
            files.push(path);
        }
    }
    Ok(())
}

/// String literals of more than one word, and doc comments where they are help texts; unit tests are left out.
fn of_rust(source: &str, with_docs: bool) -> Vec<(usize, String)> {
    let product = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or(source);
    let mut found = Vec::new();
    let mut rest = product;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let read = product.get(..product.len() - rest.len() + at).unwrap_or_default();
        let line = read.matches('\n').count() + 1;
        let (before, token) = rest.split_at(at);
        let (text, length) = if let Some(comment) = token.strip_prefix("//") {
            let comment = comment.split('\n').next().unwrap_or(comment);
            let doc = comment.strip_prefix('/').filter(|_| with_docs);
            (doc.unwrap_or_default().trim().to_owned(), comment.len() + 2)
        } else if token.starts_with('"') {
            literal(before, token)
        } else {
            (String::new(), character_length(token))
        };
        if text.contains(' ') && !is_code(&text) {
            found.push((line, text));
        }
        rest = token.get(length..).unwrap_or_default();
    }
    found
}

/// A string literal's text on one line, and its length in the source.
fn literal(before: &str, token: &str) -> (String, usize) {
    let body = token.get(1..).unwrap_or_default();
    let hashes = before.len() - before.trim_end_matches('#').len();
    let is_raw = before.trim_end_matches('#').ends_with('r');
    let end = if is_raw {
        let close = format!("\"{}", "#".repeat(hashes));
        body.find(&close).map_or(token.len(), |end| end + 1 + close.len())
    } else {
        let mut is_escaped = false;
        let end = body.find(|letter| {
            let is_end = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        });
        end.map_or(token.len(), |end| end + 2)
    };
    let text = token.get(1..end).unwrap_or_default().trim_end_matches(['"', '#']).replace("\\\n", " ");
    (text.split_whitespace().collect::<Vec<_>>().join(" "), end)
}

/// Past a character literal, a lifetime or a division.
fn character_length(token: &str) -> usize {
    let letters: Vec<char> = token.chars().take(4).collect();
    match letters.as_slice() {
        ['\'', '\\', escaped, '\'', ..] => 3 + escaped.len_utf8(),
        ['\'', letter, '\'', ..] => 2 + letter.len_utf8(),
        _ => 1,
    }
}

/// SQL, HTML and JSON are written in strings, too.
fn is_code(text: &str) -> bool {
    let keywords = [
        "SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "WHERE ", " FROM ", " SET ", "ORDER BY",
        "PRAGMA ",
    ];
    keywords.iter().any(|keyword| text.contains(keyword))
        || text.starts_with(['<', '{', '[']) && text.contains(['<', ':'])
}

/// What stands between the tags of a template.
fn of_template(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let mut text = String::new();
        let mut is_tag = false;
        for letter in line.chars() {
            match letter {
                '<' => is_tag = true,
                '>' if is_tag => (is_tag, text) = (false, text + " "),
                _ if !is_tag => text.push(letter),
                _ => {}
            }
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().any(char::is_alphabetic) && !text.starts_with("{%") {
            found.push((number + 1, text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_where_people_read_them() {
        let source = "let a = \"two words\"; // \"not this\"\n/// A help text.\nlet b = 'x'; f::<'a>(\"one\");\n\
                      let c = r#\"a \"raw\" one\"#;\nlet d = \"it \\\"says\\\" so\";\n#[cfg(test)]\nmod tests { \"in a test\" }";
        let texts =
            |with_docs| of_rust(source, with_docs).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(false), ["two words", "a \"raw\" one", "it \\\"says\\\" so"]);
        assert_eq!(texts(true)[1], "A help text.");
        assert_eq!(of_template("<p>\n  No <b>events</b> yet\n</p>"), [(2, "No events yet".to_owned())]);
    }
}
