//! A text that must not be printed.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// A credential, key or token. It is wiped from memory when dropped and shows as `[secret]` wherever it is printed.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes the text in.
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The text itself. Each call is a place to look at when asking where secrets go.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// A form that can be shown and recognised: stars, and the last four characters where enough stays hidden.
    pub fn masked(&self) -> String {
        let text = self.expose();
        let length = text.chars().count();
        if length < 16 {
            return "********".to_owned();
        }
        let tail: String = text.chars().skip(length.saturating_sub(4)).collect();
        format!("********{tail}")
    }

    /// Whether a text is in the form that [`Secret::masked`] gives: eight stars and at most four characters.
    pub fn is_masked_form(text: &str) -> bool {
        text.strip_prefix("********").is_some_and(|tail| tail.chars().count() <= 4)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose().as_bytes().ct_eq(other.expose().as_bytes()).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_prints_a_secret() {
        let secret = Secret::new("sk_live_do_not_print_me");
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "[secret] Some(\n    [secret],\n)");
    }

    #[test]
    fn masks_show_a_tail_only_where_enough_stays_hidden() {
        assert_eq!(Secret::new("short").masked(), "********");
        assert_eq!(Secret::new("0123456789abcdeé").masked(), "********cdeé");
        for masked in ["********", "********cdeé"] {
            assert!(Secret::is_masked_form(masked));
        }
        for other in ["", "*******", "********12345", "sk_********"] {
            assert!(!Secret::is_masked_form(other), "{other}");
        }
    }
}
