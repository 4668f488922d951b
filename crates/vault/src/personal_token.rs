//! Personal tokens of operators: `pat_…`.

use crate::{api_key::IssuedKey, checksum, digest::Digest, random::RandomnessUnavailable, secret::Secret};

const PREFIX: &str = "pat_";

/// Makes a personal token, with a checksum tail as API keys have.
pub fn issue_personal_token() -> Result<IssuedKey, RandomnessUnavailable> {
    let text = checksum::generate(PREFIX)?;
    let last_four = text.chars().skip(text.len().saturating_sub(4)).collect();
    Ok(IssuedKey { digest: Digest::of(&text), last_four, key: Secret::new(text) })
}

/// Whether a text has the shape of a personal token; `Some(false)` where the checksum tells of a typo or a cut.
pub fn shape_of_personal_token(text: &str) -> Option<bool> {
    text.starts_with(PREFIX).then(|| checksum::verify(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_told_from_an_unknown_token() {
        let issued = issue_personal_token().unwrap();
        let text = issued.key.expose();
        assert_eq!(issued.digest, Digest::of(text));
        assert!(text.ends_with(&issued.last_four));
        assert_eq!(shape_of_personal_token(text), Some(true));
        let (cut, _) = text.split_at(text.len() - 1);
        assert_eq!(shape_of_personal_token(cut), Some(false));
        assert_eq!(shape_of_personal_token("adm_something"), None);
    }
}
