//! The fields that every response starts with: `Server` and `Date`, rendered once a second.

use crate::status;

/// Bytes of an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`.
const DATE_LEN: usize = 29;
/// The last second that four digits of a year can say.
const LAST_SECOND: u64 = 253_402_300_799;

/// `Server` and `Date`, ready to be copied; the time comes from outside.
#[derive(Clone, Debug)]
pub struct Prelude {
    /// The status line of 200 and behind it the fields: the commonest start of a response.
    ok: Vec<u8>,
    fields: usize,
    /// Where the date is written.
    date: Option<usize>,
    time: u64,
}

impl Prelude {
    /// Fields for that server name (`None`: no `Server` field), with or without a date.
    ///
    /// A name that is not a field value is left out. The time starts at 1970.
    pub fn new(server: Option<&str>, date: bool) -> Self {
        let mut ok = Vec::with_capacity(128);
        status::push_line(&mut ok, 200);
        let fields = ok.len();
        if let Some(server) = server {
            // A bad name must not be able to end the head early.
            let _ = crate::response::push_field(&mut ok, b"Server", server.as_bytes());
        }
        let date = date.then(|| {
            ok.extend_from_slice(b"Date: ");
            let place = ok.len();
            ok.extend_from_slice(&format_date(0));
            ok.extend_from_slice(b"\r\n");
            place
        });
        Self { ok, fields, date, time: 0 }
    }

    /// Sets the date; costs nothing if the second is the same.
    #[inline]
    pub fn set_time(&mut self, unix_seconds: u64) {
        if unix_seconds != self.time {
            self.time = unix_seconds;
            self.write_date();
        }
    }

    /// The rendered fields, such as `Server: tarmac\r\nDate: ...\r\n`.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.ok[self.fields..]
    }

    /// The status line of 200 and the fields.
    #[inline]
    pub(crate) fn ok(&self) -> &[u8] {
        &self.ok
    }

    #[cold]
    fn write_date(&mut self) {
        if let Some(place) = self.date {
            self.ok[place..place + DATE_LEN].copy_from_slice(&format_date(self.time));
        }
    }
}

/// The IMF-fixdate of a time (RFC 9110 section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Times past the year 9999 are written as its last second.
pub fn format_date(unix_seconds: u64) -> [u8; DATE_LEN] {
    const WEEKDAYS: &[u8; 21] = b"ThuFriSatSunMonTueWed";
    const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let seconds = unix_seconds.min(LAST_SECOND);
    let days = seconds / 86_400;
    let (year, month, day) = civil(days);
    let mut out = *b"Www, 00 Mmm 0000 00:00:00 GMT";
    copy_name(&mut out, 0, WEEKDAYS, days % 7);
    put_two(&mut out, 5, day);
    copy_name(&mut out, 8, MONTHS, month - 1);
    put_two(&mut out, 12, year / 100);
    put_two(&mut out, 14, year % 100);
    put_two(&mut out, 17, seconds / 3600 % 24);
    put_two(&mut out, 20, seconds / 60 % 60);
    put_two(&mut out, 23, seconds % 60);
    out
}

#[expect(clippy::cast_possible_truncation, reason = "an index below twelve")]
fn copy_name(out: &mut [u8; DATE_LEN], at: usize, names: &[u8], index: u64) {
    let start = index as usize * 3;
    out[at..at + 3].copy_from_slice(&names[start..start + 3]);
}

#[expect(clippy::cast_possible_truncation, reason = "a number below one hundred")]
fn put_two(out: &mut [u8; DATE_LEN], at: usize, number: u64) {
    out[at] = b'0' + (number / 10) as u8;
    out[at + 1] = b'0' + (number % 10) as u8;
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// Years are taken to start in March, so that the leap day is their last one; 400 of them have
/// 146,097 days, and the months of such a year follow (153 m + 2) / 5.
fn civil(days: u64) -> (u64, u64, u64) {
    let since_march_0000 = days + 719_468;
    let era = since_march_0000 / 146_097;
    let day_of_era = since_march_0000 % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(seconds: u64) -> String {
        String::from_utf8(format_date(seconds).to_vec()).unwrap()
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!("Thu, 01 Jan 1970 00:00:00 GMT", date(0));
        assert_eq!("Sun, 06 Nov 1994 08:49:37 GMT", date(784_111_777));
        assert_eq!("Tue, 29 Feb 2000 23:59:59 GMT", date(951_868_799));
        assert_eq!("Wed, 01 Mar 2000 00:00:00 GMT", date(951_868_800));
        assert_eq!("Mon, 01 Mar 2100 00:00:00 GMT", date(4_107_542_400));
        assert_eq!("Fri, 31 Dec 9999 23:59:59 GMT", date(LAST_SECOND));
        assert_eq!(date(LAST_SECOND), date(u64::MAX));
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = civil(0);
        for day in 1..200_000 {
            let (year, month, date) = civil(day);
            let expected = [
                (before.0, before.1, before.2 + 1),
                (before.0, before.1 + 1, 1),
                (before.0 + 1, 1, 1),
            ];
            assert!(expected.contains(&(year, month, date)), "{before:?} {year} {month} {date}");
            before = (year, month, date);
        }
    }

    #[test]
    fn the_prelude_follows_the_time() {
        let mut prelude = Prelude::new(Some("tarmac"), true);
        prelude.set_time(784_111_777);
        let expected = b"Server: tarmac\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
        assert_eq!(expected, prelude.bytes());
        prelude.set_time(784_111_778);
        assert!(prelude.bytes().ends_with(b"08:49:38 GMT\r\n"));
    }

    #[test]
    fn both_fields_can_be_left_out() {
        assert_eq!(b"", Prelude::new(None, false).bytes());
        assert_eq!(b"", Prelude::new(Some("a\r\nb: c"), false).bytes());
        let mut prelude = Prelude::new(Some("x"), false);
        prelude.set_time(5);
        assert_eq!(b"Server: x\r\n", prelude.bytes());
    }
}
