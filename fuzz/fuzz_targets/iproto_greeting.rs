//! Invariant: any 128 bytes are a greeting or a refusal with a reason; a salt has 20 bytes of the
//! base64 that was sent.

#![no_main]

use iproto::Greeting;
use libfuzzer_sys::fuzz_target;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fuzz_target!(|input: &[u8]| {
    match Greeting::parse(input) {
        Ok(greeting) => assert_eq!(encoded(greeting.salt), input[64..90]),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // A random greeting is hardly ever one: the salt alone, too.
    let mut whole = *b"Tarantool 2.6.0 (Binary)                                       \n................................................................";
    if let Some(salt) = input.first_chunk::<27>() {
        whole[64..91].copy_from_slice(salt);
        let valid = salt.iter().all(|byte| ALPHABET.contains(byte));
        match Greeting::parse(&whole) {
            Ok(greeting) => assert_eq!(encoded(greeting.salt), salt[..26]),
            Err(_) => assert!(!valid),
        }
    }
});

/// The first 26 characters of the salt in base64: those that it says wholly.
fn encoded(salt: [u8; 20]) -> Vec<u8> {
    let bits: Vec<u8> =
        salt.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1)).collect();
    let sextets = bits.chunks_exact(6).take(26);
    sextets
        .map(|sextet| ALPHABET[sextet.iter().fold(0, |value, bit| value << 1 | usize::from(*bit))])
        .collect()
}
