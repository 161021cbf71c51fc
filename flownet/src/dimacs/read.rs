//! The reader: one pass, one line in memory.

use std::io::{self, BufRead};
use std::string::String;

use super::{MAX_LINE, ReadError};
use crate::{Limit, Network, NodeId};

/// Reads a maximum flow problem.
///
/// Words may be parted by any number of blanks: spaces, tabs, form feeds and carriage returns.
/// Lines end with `\n` or `\r\n`, and may begin with blanks. Empty lines and those whose first
/// word begins with `c` are skipped. The `p` line must come before all `n` and `a` lines, and its
/// number of arcs must be right. Node `i` of the file becomes [`NodeId`]`(i - 1)`; arcs keep their
/// order.
///
/// # Errors
/// A [`ReadError`] with the number of the line. Nothing is reserved for what a file merely claims
/// to hold.
///
/// # Complexity
/// O(bytes) time; O(arcs) memory.
pub fn read_max(mut reader: impl BufRead) -> Result<Network<u64>, ReadError> {
    let mut file = File { net: Network::new(), line: 0, problem: None, source: None, sink: None };
    let mut buffer = [0; MAX_LINE];
    loop {
        file.line += 1;
        match next_line(&mut reader, &mut buffer).map_err(ReadError::Io)? {
            Line::End => break,
            Line::Comment => {}
            Line::TooLong => return Err(ReadError::LineTooLong { line: file.line }),
            Line::Text(length) => file.accept(&buffer[..length])?,
        }
    }
    file.line = (file.line - 1).max(1);
    file.finish()
}

enum Line {
    End,
    Comment,
    TooLong,
    /// So many bytes of the buffer.
    Text(usize),
}

/// Reads one line without its leading blanks, and of a comment nothing but its first byte.
fn next_line(reader: &mut impl BufRead, buffer: &mut [u8; MAX_LINE]) -> io::Result<Line> {
    let mut length = 0;
    let mut any = false;
    let mut comment = false;
    loop {
        let bytes = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if bytes.is_empty() {
            break;
        }
        any = true;
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let mut part = &bytes[..end.unwrap_or(bytes.len())];
        if length == 0 && !comment {
            part = part.trim_ascii_start();
            comment = part.first() == Some(&b'c');
        }
        if !comment {
            let Some(room) = buffer.get_mut(length..length + part.len()) else {
                return Ok(Line::TooLong);
            };
            room.copy_from_slice(part);
            length += part.len();
        }
        let used = end.map_or(bytes.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (any, comment) {
        (false, _) => Line::End,
        (true, true) => Line::Comment,
        (true, false) => Line::Text(length),
    })
}

/// What has been read so far.
struct File {
    net: Network<u64>,
    line: u64,
    /// The line of the problem, its nodes and arcs.
    problem: Option<(u64, u64, u64)>,
    /// The line and node of each terminal.
    source: Option<(u64, u64)>,
    sink: Option<(u64, u64)>,
}

impl File {
    fn accept(&mut self, text: &[u8]) -> Result<(), ReadError> {
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        match words.next() {
            None => Ok(()),
            Some(b"p") => self.problem(words),
            Some(b"n") => self.terminal(words),
            Some(b"a") => self.arc(words),
            Some(word) if word.first() == Some(&b'c') => Ok(()),
            Some(word) => Err(ReadError::UnknownLine { line: self.line, word: shown(word) }),
        }
    }

    fn problem<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> Result<(), ReadError> {
        let line = self.line;
        if let Some((first, ..)) = self.problem {
            return Err(ReadError::SecondProblem { line, first });
        }
        let [kind, nodes, arcs] = self.words(words, "p max NODES ARCS")?;
        if kind != b"max" {
            return Err(ReadError::NotMax { line, word: shown(kind) });
        }
        let (nodes, arcs) = (self.number(nodes)?, self.number(arcs)?);
        let too_large = |count| ReadError::TooLarge { line, count };
        let count = usize::try_from(nodes).map_err(|_| too_large(nodes))?;
        self.net.add_nodes(count).map_err(|_| too_large(nodes))?;
        if arcs > Network::<u64>::MAX_ARCS as u64 {
            return Err(too_large(arcs));
        }
        self.problem = Some((line, nodes, arcs));
        Ok(())
    }

    fn terminal<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> Result<(), ReadError> {
        let line = self.line;
        if self.problem.is_none() {
            return Err(ReadError::NoProblem { line });
        }
        let [number, kind] = self.words(words, "n NODE s|t")?;
        let (number, node) = self.node(number)?;
        let (kind, slot, other) = match kind {
            b"s" => ('s', &mut self.source, self.sink),
            b"t" => ('t', &mut self.sink, self.source),
            _ => return Err(ReadError::BadTerminal { line, word: shown(kind) }),
        };
        if let Some((first, _)) = *slot {
            return Err(ReadError::SecondTerminal { line, kind, first });
        }
        if other.is_some_and(|(_, other)| other == number) {
            return Err(ReadError::SameTerminals { line, node: number });
        }
        *slot = Some((line, number));
        let added = match kind {
            's' => self.net.add_source(node, Limit::Unbounded),
            _ => self.net.add_sink(node, Limit::Unbounded),
        };
        added.map_err(|_| ReadError::SameTerminals { line, node: number })
    }

    fn arc<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> Result<(), ReadError> {
        let line = self.line;
        let Some((.., arcs)) = self.problem else { return Err(ReadError::NoProblem { line }) };
        let [from, to, capacity] = self.words(words, "a FROM TO CAPACITY")?;
        let (from, to) = (self.node(from)?.1, self.node(to)?.1);
        let capacity = self.number(capacity)?;
        if self.net.arc_count() as u64 >= arcs {
            return Err(ReadError::TooManyArcs { line, arcs });
        }
        match self.net.add_arc(from, to, capacity) {
            Ok(_) => Ok(()),
            Err(_) => Err(ReadError::TooLarge { line, count: arcs }),
        }
    }

    fn finish(self) -> Result<Network<u64>, ReadError> {
        let line = self.line;
        let Some((.., arcs)) = self.problem else { return Err(ReadError::NoProblem { line }) };
        let found = self.net.arc_count() as u64;
        if found < arcs {
            return Err(ReadError::TooFewArcs { line, found, arcs });
        }
        for (kind, terminal) in [('s', self.source), ('t', self.sink)] {
            if terminal.is_none() {
                return Err(ReadError::NoTerminal { line, kind });
            }
        }
        Ok(self.net)
    }

    /// Exactly `N` words.
    fn words<'a, const N: usize>(
        &self,
        mut words: impl Iterator<Item = &'a [u8]>,
        expected: &'static str,
    ) -> Result<[&'a [u8]; N], ReadError> {
        let wrong = ReadError::WordCount { line: self.line, expected };
        let mut found = [&b""[..]; N];
        for slot in &mut found {
            match words.next() {
                Some(word) => *slot = word,
                None => return Err(wrong),
            }
        }
        if words.next().is_some() { Err(wrong) } else { Ok(found) }
    }

    /// Digits alone: no sign, fraction or exponent.
    fn number(&self, word: &[u8]) -> Result<u64, ReadError> {
        let mut number = Some(0_u64);
        for &byte in word {
            let digit = byte.wrapping_sub(b'0');
            number = number.filter(|_| digit < 10);
            number = number.and_then(|n| n.checked_mul(10)?.checked_add(u64::from(digit)));
        }
        number.ok_or_else(|| ReadError::BadNumber { line: self.line, word: shown(word) })
    }

    fn node(&self, word: &[u8]) -> Result<(u64, NodeId), ReadError> {
        let node = self.number(word)?;
        let nodes = self.problem.map_or(0, |(_, nodes, _)| nodes);
        let id = node.checked_sub(1).filter(|_| node <= nodes);
        match id.and_then(|id| u32::try_from(id).ok()) {
            Some(id) => Ok((node, NodeId(id))),
            None => Err(ReadError::NoSuchNode { line: self.line, node, nodes }),
        }
    }
}

/// The beginning of a word, for a message.
fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned()
}
