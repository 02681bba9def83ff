//! Points in time: the server's seconds and zone <-> an aware `datetime`.

use iproto::ext;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyDateAccess, PyDateTime, PyDelta, PyDeltaAccess, PyTimeAccess, PyTzInfo, PyTzInfoAccess,
};

use crate::values::Datetime;

const DAY: i64 = 86_400;

/// An aware `datetime`, or our own `Datetime` where that would lose something: nanoseconds
/// below a microsecond, a named zone, or a year outside of 1 to 9999.
pub fn unpack(py: Python<'_>, moment: ext::Datetime) -> PyResult<Bound<'_, PyAny>> {
    if moment.nanoseconds % 1000 == 0
        && moment.tz_index == 0
        && let Some(datetime) = standard(py, moment)?
    {
        return Ok(datetime.into_any());
    }
    Ok(Bound::new(py, Datetime::from(moment))?.into_any())
}

/// The nearest `datetime` at or before the moment; `None` outside of its years.
pub fn standard(py: Python<'_>, moment: ext::Datetime) -> PyResult<Option<Bound<'_, PyDateTime>>> {
    let Some(local) = moment.seconds.checked_add(i64::from(moment.tz_offset) * 60) else {
        return Ok(None);
    };
    let Ok(microsecond @ 0..1_000_000) = u32::try_from(moment.nanoseconds / 1000) else {
        return Ok(None);
    };
    let (year, month, day) = civil_from_days(local.div_euclid(DAY));
    let (Ok(year @ 1..=9999), -1439..=1439) = (i32::try_from(year), moment.tz_offset) else {
        return Ok(None);
    };
    let [hour, minute, second] = clock(local.rem_euclid(DAY));
    let zone = zone(py, moment.tz_offset)?;
    let built =
        PyDateTime::new(py, year, month, day, hour, minute, second, microsecond, Some(&zone))?;
    Ok(Some(built))
}

/// The server's form of an aware `datetime`.
pub fn pack(datetime: &Bound<'_, PyDateTime>) -> PyResult<ext::Datetime> {
    if datetime.get_tzinfo().is_none() {
        return Err(PyValueError::new_err("a datetime must be aware: give it a tzinfo"));
    }
    let py = datetime.py();
    let offset = datetime.call_method0(intern!(py, "utcoffset"))?;
    let Ok(offset) = offset.cast::<PyDelta>() else {
        return Err(PyValueError::new_err("a datetime must be aware: its utcoffset() is None"));
    };
    let offset_seconds = i64::from(offset.get_days()) * DAY + i64::from(offset.get_seconds());
    if offset_seconds % 60 != 0 || offset.get_microseconds() != 0 {
        return Err(PyValueError::new_err("a datetime's offset must be whole minutes"));
    }
    let days = days_from_civil(
        i64::from(datetime.get_year()),
        i64::from(datetime.get_month()),
        i64::from(datetime.get_day()),
    );
    let time = i64::from(datetime.get_hour()) * 3600
        + i64::from(datetime.get_minute()) * 60
        + i64::from(datetime.get_second());
    let microsecond = i32::try_from(datetime.get_microsecond())?;
    Ok(ext::Datetime {
        seconds: days * DAY + time - offset_seconds,
        nanoseconds: microsecond * 1000,
        tz_offset: i16::try_from(offset_seconds / 60)?,
        tz_index: 0,
    })
}

fn zone(py: Python<'_>, minutes: i16) -> PyResult<Bound<'_, PyTzInfo>> {
    if minutes == 0 {
        return Ok(PyTzInfo::utc(py)?.to_owned());
    }
    let minutes = i32::from(minutes);
    PyTzInfo::fixed_offset(py, PyDelta::new(py, 0, minutes * 60, 0, true)?)
}

/// Hours, minutes and seconds of a second of the day.
fn clock(second: i64) -> [u8; 3] {
    [second / 3600, second / 60 % 60, second % 60].map(|part| u8::try_from(part).unwrap_or(0))
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar. Years begin in March
/// here, so that the leap day is the last one; eras are 400 years of 146,097 days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The reverse of [`days_from_civil`]: year, month and day.
fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, u8::try_from(month).unwrap_or(1), u8::try_from(day).unwrap_or(1))
}
