//! Random texts with a checksum tail: a typo is told from an unknown key, and secret scanners can find real ones.

use crate::random::{RandomnessUnavailable, random_bytes};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// 34 characters of 62 carry 202 random bits.
const RANDOM_LENGTH: usize = 34;
/// A CRC-32 in base 62.
const CHECKSUM_LENGTH: usize = 6;

/// How long the part behind the prefix is.
pub(crate) const TAIL_LENGTH: usize = RANDOM_LENGTH + CHECKSUM_LENGTH;

/// `prefix`, randomness, and the checksum of both.
pub(crate) fn generate(prefix: &str) -> Result<String, RandomnessUnavailable> {
    let mut text = String::with_capacity(prefix.len() + TAIL_LENGTH);
    text.push_str(prefix);
    let wanted = prefix.len() + RANDOM_LENGTH;
    while text.len() < wanted {
        for byte in random_bytes::<64>()? {
            // 248 is the largest multiple of 62 in a byte: what lies above would favour some letters.
            if byte < 248 && text.len() < wanted {
                text.push(letter(u32::from(byte) % 62));
            }
        }
    }
    let tail = checksum(&text);
    text.extend(tail.map(char::from));
    Ok(text)
}

/// Whether the text, prefix included, ends with its own checksum.
pub(crate) fn verify(text: &str) -> bool {
    let Some(split) = text.len().checked_sub(CHECKSUM_LENGTH) else { return false };
    text.split_at_checked(split).is_some_and(|(body, tail)| checksum(body) == tail.as_bytes())
}

fn checksum(body: &str) -> [u8; CHECKSUM_LENGTH] {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for place in digits.iter_mut().rev() {
        *place = letter_byte(rest % 62);
        rest /= 62;
    }
    digits
}

fn letter(digit: u32) -> char {
    char::from(letter_byte(digit))
}

fn letter_byte(digit: u32) -> u8 {
    usize::try_from(digit).ok().and_then(|digit| ALPHABET.get(digit)).copied().unwrap_or(b'0')
}
