//! Texts that are much like one another, compressed with what they have in common, one behind the other.
//!
//! Each begins with a byte that says how it is stored: as it is, or compressed with the dictionary of that number. A
//! dictionary never changes, because what was compressed with it is read with it.

use lz4_flex::block::{compress_with_dict, decompress_with_dict};

const AS_IT_IS: u8 = 0;
const FIRST_DICTIONARY: u8 = 1;
const DICTIONARY: &[u8] = include_bytes!("dictionary-1.txt");

/// More is taken for a damaged row.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A text, to be put behind others.
pub(super) fn compress(text: &[u8]) -> Vec<u8> {
    let body = compress_with_dict(text, DICTIONARY);
    let mut stored = Vec::with_capacity(body.len() + 8);
    if body.len() < text.len() {
        stored.push(FIRST_DICTIONARY);
        push_number(&mut stored, text.len());
        push_number(&mut stored, body.len());
        stored.extend(body);
    } else {
        stored.push(AS_IT_IS);
        push_number(&mut stored, text.len());
        stored.extend(text);
    }
    stored
}

/// All texts, in order; `None` if they are damaged.
pub(super) fn decompress_all(mut stored: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    while let Some((kind, rest)) = stored.split_first() {
        stored = rest;
        let length = take_number(&mut stored).filter(|length| *length <= MOST_BYTES)?;
        texts.push(match *kind {
            AS_IT_IS => take(&mut stored, length)?.to_vec(),
            FIRST_DICTIONARY => {
                let body_length = take_number(&mut stored)?;
                let text = decompress_with_dict(take(&mut stored, body_length)?, length, DICTIONARY).ok()?;
                (text.len() == length).then_some(text)?
            }
            _ => return None,
        });
    }
    Some(texts)
}

fn take<'a>(stored: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = stored.split_at_checked(length)?;
    *stored = rest;
    Some(taken)
}

/// Seven bits in a byte, the lowest first; the eighth says that more follow.
fn push_number(stored: &mut Vec<u8>, mut number: usize) {
    loop {
        let [low, ..] = (number & 0x7f).to_le_bytes();
        number >>= 7;
        if number == 0 {
            return stored.push(low);
        }
        stored.push(low | 0x80);
    }
}

fn take_number(stored: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = stored.split_first()?;
        *stored = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_dictionary_stays_as_it_is() {
        let digest: [u8; 32] = Sha256::digest(DICTIONARY).into();
        assert_eq!(
            uuid::Uuid::from_slice(&digest[..16]).unwrap().simple().to_string(),
            "a643f472af064ba6d3a83da74c48dae8"
        );
    }

    #[test]
    fn every_text_comes_back() {
        let long = "ab\u{0}é{\"operation\":".repeat(20_000).into_bytes();
        let texts: Vec<Vec<u8>> = vec![
            Vec::new(),
            vec![0, 255, 128],
            DICTIONARY.to_vec(),
            long.clone(),
            (0..=255).collect(),
            long[..127].to_vec(),
            long[..128].to_vec(),
        ];
        let stored: Vec<u8> = texts.iter().flat_map(|text| compress(text)).collect();
        assert_eq!(decompress_all(&stored).unwrap(), texts);
        assert!(compress(&long).len() < long.len() / 50);
    }

    #[test]
    fn damage_is_noticed() {
        let stored = compress(DICTIONARY);
        for length in 1..stored.len() {
            assert!(decompress_all(&stored[..length]).is_none(), "{length}");
        }
        assert!(decompress_all(&[9, 1, 1]).is_none());
        assert!(decompress_all(&[AS_IT_IS, 0xff, 0xff, 0xff, 0xff, 0x7f]).is_none());
        assert!(decompress_all(&[AS_IT_IS, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).is_none());
    }
}
