//! Masking, which is its own opposite (RFC 6455 section 5.3).

/// Mask `data`, whose first byte is the one at `offset` of its frame.
#[inline]
pub fn apply(data: &mut [u8], key: [u8; 4], offset: usize) {
    // The key, turned so that its first byte belongs to the first byte of the data.
    let turned: [u8; 4] = std::array::from_fn(|place| key[(place + offset) & 3]);
    let turned = u32::from_ne_bytes(turned);
    let wide = u64::from(turned) | u64::from(turned) << 32;
    let (words, rest) = data.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(wide.to_ne_bytes()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::apply;

    #[test]
    fn every_length_and_offset_is_masked_as_the_rule_says() {
        let key = [0x37, 0xfa, 0x21, 0x3d];
        for offset in 0..9 {
            for length in 0..40 {
                let plain: Vec<u8> = (0..length).collect();
                let expected: Vec<u8> = plain
                    .iter()
                    .enumerate()
                    .map(|(at, byte)| byte ^ key[(at + offset) % 4])
                    .collect();
                let mut masked = plain.clone();
                apply(&mut masked, key, offset);
                assert_eq!(expected, masked, "{length} bytes from {offset}");
            }
        }
    }
}
