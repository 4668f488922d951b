//! Requests that differ from one another in a number, so that none repeats another's idempotency key.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Fault;

/// Stands in a request where its number goes.
pub(crate) const NUMBER: &str = "################";

/// Requests of one or several forms, picked evenly and as if by chance.
pub(crate) struct Numbered {
    forms: Vec<Form>,
    next: AtomicU64,
}

struct Form {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Numbered {
    /// Each form must hold [`NUMBER`] at least once; a request is its form with a number there.
    pub(crate) fn new(forms: Vec<Vec<u8>>) -> Result<Self, Fault> {
        let forms: Vec<Form> = forms.into_iter().map(Form::new).collect();
        if forms.is_empty() || forms.iter().any(|form| form.places.is_empty()) {
            return Err("there is no request, or one without a place for its number".into());
        }
        Ok(Self { forms, next: AtomicU64::new(1) })
    }

    /// Writes the next request.
    pub(crate) fn next(&self, buffer: &mut Vec<u8>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        buffer.clear();
        let Some(form) = self.forms.get(pick(number, self.forms.len())) else { return };
        buffer.extend_from_slice(&form.bytes);
        let digits = format!("{number:0width$x}", width = NUMBER.len());
        for place in &form.places {
            if let Some(gap) = buffer.get_mut(*place..place + NUMBER.len()) {
                gap.copy_from_slice(digits.as_bytes());
            }
        }
    }
}

impl Form {
    fn new(bytes: Vec<u8>) -> Self {
        let windows = bytes.windows(NUMBER.len()).enumerate();
        let places =
            windows.filter(|(_, window)| *window == NUMBER.as_bytes()).map(|(place, _)| place).collect();
        Self { bytes, places }
    }
}

/// One of so many, evenly.
pub(crate) fn pick(number: u64, of: usize) -> usize {
    let of = u64::try_from(of).unwrap_or(u64::MAX).max(1);
    usize::try_from(mixed(number) % of).unwrap_or(0)
}

/// A number that looks like chance and is another for every other number (SplitMix64).
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_has_a_number_of_its_own() {
        let form = format!("key: {NUMBER}\r\n\r\n{{\"k\":\"x-{NUMBER}\"}}").into_bytes();
        let numbered = Numbered::new(vec![form.clone()]).unwrap();
        let mut buffer = Vec::new();
        for expected in ["0000000000000001", "0000000000000002"] {
            numbered.next(&mut buffer);
            let text = String::from_utf8(buffer.clone()).unwrap();
            assert_eq!(text, format!("key: {expected}\r\n\r\n{{\"k\":\"x-{expected}\"}}"));
            assert_eq!(buffer.len(), form.len());
        }
    }

    #[test]
    fn a_request_without_a_place_for_its_number_is_refused() {
        assert!(Numbered::new(vec![]).is_err());
        assert!(Numbered::new(vec![NUMBER.into(), b"GET /".to_vec()]).is_err());
    }

    #[test]
    fn forms_are_picked_evenly() {
        let mut counts = [0_u32; 10];
        for number in 0..10_000 {
            counts[pick(number, 10)] += 1;
        }
        assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
    }
}
