//! The next value of a series: smoothing, trend, and the grey model GM(1,1).

use crate::error::{Error, non_negative};

/// A series that tells its next value. All series are of loads: numbers from 0.
pub trait Forecast {
    /// Takes in the next value.
    ///
    /// # Errors
    /// A value that is no finite number from 0; the series stays as it was.
    fn push(&mut self, value: f64) -> Result<(), Error>;

    /// The value that comes next: finite, not below 0; `None` before the first value.
    fn forecast(&self) -> Option<f64>;
}

fn weight(what: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(Error::Number { what, value, rule: "must be above 0 and at most 1" })
}

/// Simple exponential smoothing, S = α·x + (1 − α)·S: 16 bytes and O(1) a value.
#[derive(Clone, Copy, Debug)]
pub struct Ewma {
    alpha: f64,
    level: Option<f64>,
}

impl Ewma {
    /// # Errors
    /// α not above 0 and at most 1.
    pub fn new(alpha: f64) -> Result<Self, Error> {
        Ok(Self { alpha: weight("alpha", alpha)?, level: None })
    }
}

impl Forecast for Ewma {
    fn push(&mut self, value: f64) -> Result<(), Error> {
        non_negative("a value", value)?;
        // This form stays exactly where it is on a constant series.
        self.level = Some(self.level.map_or(value, |level| level + self.alpha * (value - level)));
        Ok(())
    }

    fn forecast(&self) -> Option<f64> {
        self.level
    }
}

/// Holt's linear smoothing: a level and a trend, `ahead` steps on. Not below 0.
#[derive(Clone, Copy, Debug)]
pub struct Holt {
    alpha: f64,
    beta: f64,
    ahead: f64,
    state: Option<(f64, f64)>,
}

impl Holt {
    /// # Errors
    /// α or β not above 0 and at most 1; `ahead` no finite number from 0.
    pub fn new(alpha: f64, beta: f64, ahead: f64) -> Result<Self, Error> {
        let (alpha, beta) = (weight("alpha", alpha)?, weight("beta", beta)?);
        Ok(Self { alpha, beta, ahead: non_negative("ahead", ahead)?, state: None })
    }
}

impl Forecast for Holt {
    fn push(&mut self, value: f64) -> Result<(), Error> {
        non_negative("a value", value)?;
        self.state = Some(match self.state {
            None => (value, 0.0),
            Some((level, trend)) => {
                let expected = level + trend;
                let next = expected + self.alpha * (value - expected);
                let slope = trend + self.beta * (next - level - trend);
                // Values near the largest there is: begin anew rather than overflow.
                if next.is_finite() && slope.is_finite() { (next, slope) } else { (value, 0.0) }
            }
        });
        Ok(())
    }

    fn forecast(&self) -> Option<f64> {
        let (level, trend) = self.state?;
        let next = level + self.ahead * trend;
        Some(if next.is_finite() { next.max(0.0) } else { level.clamp(0.0, f64::MAX) })
    }
}

/// The grey model GM(1,1) over the last `N` values, N ≥ 4.
///
/// Fits x_k + a·z_k = b by least squares, with z_k the mean of two neighbouring partial sums, and
/// tells x̂_{n+1} = (b − a·x₁)·e^{−an}·(e^a − 1)/a, whose last factor is 1 at a = 0: a constant
/// series has a = 0, and the printed form divides by it. Zeros are shifted away first, as the
/// model needs a series above 0. With fewer than four values it tells their mean; where the
/// exponential overflows, the last value. O(N) a forecast.
#[derive(Clone, Debug)]
pub struct Grey11<const N: usize> {
    values: [f64; N],
    /// Values seen, at most N; the oldest is at 0.
    len: usize,
}

impl<const N: usize> Default for Grey11<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Grey11<N> {
    const ENOUGH: () = assert!(N >= 4, "GM(1,1) needs a window of at least 4 values");

    /// An empty window. A window under four does not compile.
    #[must_use]
    pub fn new() -> Self {
        let () = Self::ENOUGH;
        Self { values: [0.0; N], len: 0 }
    }

    /// The fitted a and b of the values, shifted so that none is 0, and the shift; `None` for
    /// fewer than four.
    #[must_use]
    pub fn fit(&self) -> Option<(f64, f64, f64)> {
        let values = &self.values[..self.len];
        if values.len() < 4 {
            return None;
        }
        let largest = values.iter().copied().fold(0.0, f64::max);
        let shift = match (values.contains(&0.0), largest > 0.0) {
            (false, _) => 0.0,
            (true, true) => largest,
            (true, false) => 1.0,
        };
        let mut sum = values[0] + shift;
        let (mut z1, mut z2, mut y1, mut zy) = (0.0, 0.0, 0.0, 0.0);
        for value in &values[1..] {
            let y = value + shift;
            let z = sum + 0.5 * y;
            sum += y;
            z1 += z;
            z2 += z * z;
            y1 += y;
            zy += z * y;
        }
        let rows = (values.len() - 1) as f64;
        // The sums are of values above 0, so z differs from row to row and this is above 0.
        let a = (z1 * y1 - rows * zy) / (rows * z2 - z1 * z1);
        Some((a, (y1 + a * z1) / rows, shift))
    }
}

impl<const N: usize> Forecast for Grey11<N> {
    fn push(&mut self, value: f64) -> Result<(), Error> {
        non_negative("a value", value)?;
        if self.len == N {
            self.values.rotate_left(1);
            self.len -= 1;
        }
        self.values[self.len] = value;
        self.len += 1;
        Ok(())
    }

    fn forecast(&self) -> Option<f64> {
        let values = &self.values[..self.len];
        let last = *values.last()?;
        let Some((a, b, shift)) = self.fit() else {
            let n = values.len() as f64;
            return Some(values.iter().map(|value| value / n).sum::<f64>().min(f64::MAX));
        };
        let first = values[0] + shift;
        let factor = if a == 0.0 { 1.0 } else { libm::expm1(a) / a };
        let next = (b - a * first) * libm::exp(-a * values.len() as f64) * factor - shift;
        Some(if next.is_finite() { next.max(0.0) } else { last })
    }
}
