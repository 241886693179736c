//! Shop sells.
use std::fmt;

/// Limit is how much fits.
pub const LIMIT: usize = 10;
static mut COUNT: u8 = 0;

/// Cart holds things.
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct Cart<'a, T: Clone> {
    pub items: Vec<&'a T>,
    size: usize,
}

impl<'a, T: Clone> Cart<'a, T> {
    /// total adds up.
    #[inline]
    pub fn total(&self, tax: u32) -> u32 {
        // inside
        self.items.len() as u32 + tax
    }

    async fn load(mut self, (a, b): (u8, u8)) {}
}

impl fmt::Display for Cart<'_, u8> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, "{}", r#"raw
text"#) }
}

pub trait Shape { fn area(&self) -> f64; fn name(&self) -> String { "x".into() } }
enum Kind { A(u8), B { x: u8 } }
type Pair = (u8, u8);
macro_rules! maximum { ($x:expr) => ($x); }

pub fn new<T>(of: T) -> Option<T> where T: Clone { if let Some(x) = Some(of) { Some(x) } else { None } }

mod deep {
    pub fn inside() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() { assert_eq!(1, 1); }
}
