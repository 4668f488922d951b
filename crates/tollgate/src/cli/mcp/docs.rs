//! The documentation, searched by words, as an assistant reads it.

use crate::failure::Failure;

const SECTIONS_MAX: usize = 5;
const SECTION_CHARACTERS_MAX: usize = 6_000;

/// The sections that fit the words best, as Markdown.
pub(super) fn search(query: &str) -> Result<String, Failure> {
    let found = tollgate_docs::find(query, SECTIONS_MAX);
    let best: Vec<_> = found
        .into_iter()
        .map(|section| {
            let text = tollgate_docs::excerpt(section, query, SECTION_CHARACTERS_MAX);
            format!("[docs/{}: {}]\n{text}", section.document, section.heading)
        })
        .collect();
    if best.is_empty() {
        return Err(Failure::new(format!(
            "no section of the documentation has a word of \"{query}\"; try others"
        )));
    }
    Ok(best.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_section_comes_first() {
        let found = search("rotating a webhook secret").unwrap();
        assert!(found.starts_with("[docs/webhooks.md: Rotating a secret]\n"), "{found}");
        let error = search("insufficient_wallet_balance").unwrap();
        assert!(error.contains("Fund the wallet"), "{error}");
        let last = search("outcome_unknown").unwrap();
        assert!(last.contains("Send the same request again with the same idempotency key"), "{last}");
        assert!(search("xyzzy").is_err());
        assert!(search("").is_err());
    }
}
