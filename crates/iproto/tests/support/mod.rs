//! Reading the vectors that Rust and Python share.

use serde::de::DeserializeOwned;

/// The vectors of a file under `tests/vectors/iproto`.
pub fn vectors<T: DeserializeOwned>(file: &str) -> T {
    let path = format!("{}/../../tests/vectors/iproto/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The bytes of hexadecimal digits; blanks are for the reader.
pub fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex
        .chars()
        .filter(|character| *character != ' ')
        .map(|character| character.to_digit(16).unwrap_or_else(|| panic!("not hex: {hex}")))
        .collect();
    assert_eq!(0, digits.len() % 2, "half a byte: {hex}");
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap()).collect()
}
