//! Authentication by challenge: the password itself never travels.

use sha1::{Digest, Sha1};

/// The scramble of method `chap-sha1`: `xor(sha1(password), sha1(salt + sha1(sha1(password))))`.
pub fn chap_sha1(password: &[u8], salt: &[u8; 20]) -> [u8; 20] {
    let once: [u8; 20] = Sha1::digest(password).into();
    let twice: [u8; 20] = Sha1::digest(once).into();
    let mut scramble: [u8; 20] =
        Sha1::new().chain_update(salt).chain_update(twice).finalize().into();
    for (byte, key) in scramble.iter_mut().zip(once) {
        *byte ^= key;
    }
    scramble
}
