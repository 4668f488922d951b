//! The documentation, searched by words.

use std::{cmp::Reverse, sync::LazyLock};

use crate::{documents, markdown};

const WORDS_MAX: usize = 8;
/// A word in a heading says more about a section than one in its text.
const HEADING_WEIGHT: usize = 5;

/// A heading with what stands below it.
#[derive(Debug)]
pub struct Section {
    /// The document's path below `docs/`.
    pub document: String,
    /// Its page's path, with the section's anchor.
    pub(crate) address: String,
    /// The document's title.
    pub(crate) title: &'static str,
    pub heading: String,
    markdown: String,
    plain: String,
    /// What is searched, in small letters: names and heading, then the text.
    searched: (String, String),
}

static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let sections = documents::all().flat_map(|document| {
        let parts = markdown::render(document.name, document.text).parts;
        parts.into_iter().map(|part| {
            let document_path = format!("{}.md", document.name);
            let heading = part.heading.text;
            Section {
                address: format!("{}#{}", document.path(), part.heading.anchor),
                title: document.title(),
                searched: (format!("{document_path} {heading}").to_lowercase(), part.plain.to_lowercase()),
                document: document_path,
                heading,
                markdown: part.markdown,
                plain: part.plain,
            }
        })
    });
    sections.collect()
});

/// The sections that fit the words best.
pub fn find(query: &str, max: usize) -> Vec<&'static Section> {
    let words = words(query);
    let mut found: Vec<_> = SECTIONS.iter().map(|section| (section.score(&words), section)).collect();
    found.retain(|(score, _)| *score > (0, 0));
    found.sort_by_key(|(score, _)| Reverse(*score));
    found.into_iter().take(max).map(|(_, section)| section).collect()
}

fn words(query: &str) -> Vec<String> {
    let words = query.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| word.chars().count() > 1).map(str::to_lowercase).take(WORDS_MAX).collect()
}

impl Section {
    /// How many of the words it has, then how often.
    fn score(&self, words: &[String]) -> (usize, usize) {
        let (heading, text) = &self.searched;
        let counts = words.iter().map(|word| {
            heading.matches(word).count() * HEADING_WEIGHT + text.matches(word).take(HEADING_WEIGHT).count()
        });
        counts.fold((0, 0), |(words, sum), count| (words + usize::from(count > 0), sum + count))
    }

    /// The text around the first of the words, for a list of results.
    pub(crate) fn around(&self, query: &str) -> String {
        const BEFORE: usize = 8;
        const LENGTH: usize = 32;
        let words = words(query);
        let text: Vec<_> = self.plain.split_whitespace().collect();
        let fits = |part: &&str| words.iter().any(|word| part.to_lowercase().contains(word));
        let start = text.iter().position(fits).unwrap_or_default().saturating_sub(BEFORE);
        let shown: Vec<_> = text.iter().skip(start).take(LENGTH).copied().collect();
        let (before, after) = (start > 0, start + shown.len() < text.len());
        format!("{}{}{}", if before { "… " } else { "" }, shown.join(" "), if after { " …" } else { "" })
    }
}

/// The section's Markdown; where it is longer than `max` characters, its lines that have one of the query's words.
pub fn excerpt(section: &Section, query: &str, max: usize) -> String {
    let text = &section.markdown;
    if text.chars().nth(max).is_none() {
        return text.clone();
    }
    let words = words(query);
    let fits = |line: &&str| words.iter().any(|word| line.to_lowercase().contains(word));
    let lines: Vec<_> = text.lines().filter(fits).collect();
    lines.join("\n").chars().take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_section_comes_first() {
        let first = |query| find(query, 1).first().map(|section| section.address.as_str());
        assert_eq!(first("rotating a webhook secret"), Some("/docs/webhooks#rotating-a-secret"));
        assert_eq!(first("insufficient_wallet_balance"), Some("/docs/errors#insufficient_wallet_balance"));
        assert_eq!(first("xyzzy"), None);
        assert_eq!(first(""), None);
        assert!(find("payment", 3).len() == 3);
    }

    #[test]
    fn a_result_shows_where_the_word_is() {
        let [section] = find("insufficient_wallet_balance", 1)[..] else { panic!("not found") };
        assert!(section.around("wallet").contains("Fund the wallet"), "{}", section.around("wallet"));
        let long = "word ".repeat(100) + "needle" + &" word".repeat(100);
        let section = Section {
            plain: long,
            document: String::new(),
            address: String::new(),
            title: "",
            heading: String::new(),
            markdown: String::new(),
            searched: Default::default(),
        };
        let shown = section.around("NEEDLE");
        assert!(
            shown.starts_with("… word") && shown.contains("needle") && shown.ends_with("word …"),
            "{shown}"
        );
        assert!(shown.len() < 250, "{shown}");
    }
}
