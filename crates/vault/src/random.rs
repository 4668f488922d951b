//! Randomness for secrets, from the operating system.

/// The operating system provided no randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system provided no randomness")]
pub struct RandomnessUnavailable;

/// Fresh random bytes.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], RandomnessUnavailable> {
    let mut bytes = [0; N];
    fill_random(&mut bytes)?;
    Ok(bytes)
}

/// Fills a slice with fresh random bytes.
pub fn fill_random(bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
    getrandom::fill(bytes).map_err(|_| RandomnessUnavailable)
}
