//! Rule 6: a record over the limit under exactly once.

use streamwright::{
    Bolt, BoxError, Emitter, Execute, Exhausted, Grouping, Poll, RunError, Spout, SpoutEmitter,
    Text, Topology, Watermark,
};

use crate::net::Net;
use crate::parts::Log;
use crate::rule_6::exactly;

/// A record over the limit ends an exactly-once run as any other that is given up, whether a spout
/// emits it, a bolt in `execute`, or a bolt as an epoch closes; with `Skip` it is listed.
#[test]
fn rule_6_a_record_over_the_limit_is_given_up_like_any_other() {
    for whom in ["spout", "execute", "close"] {
        for exhausted in [Exhausted::Stop, Exhausted::Skip] {
            let log = Log::default();
            let mut builder = Topology::builder();
            let source = builder.spout("spout", 1, move |_| Ok(Long(Some(whom == "spout"))));
            let bolt = builder.bolt("bolt", 1, move |_| Ok(Longer(whom)));
            let bolt = if whom == "close" { bolt.stateful() } else { bolt };
            let long = bolt.input(source, Grouping::shuffle()).done();
            let _ = builder
                .bolt("z", 1, move |_| Ok(Longer("never")))
                .input(long, Grouping::shuffle())
                .done();
            let config = exactly(1, |c| (c.record_limit, c.exhausted) = (100, exhausted));
            let out = Net::new(&builder.build(config).unwrap(), 1, &log).run();
            if exhausted == Exhausted::Stop {
                let Some(RunError::Exhausted { component, reason, .. }) = &out.error else {
                    panic!("{whom}: {:?}", out.error)
                };
                assert_eq!(component, if whom == "close" { "bolt" } else { "spout" });
                assert!(reason.contains("1000 bytes"), "{reason}");
            } else {
                assert_eq!((out.error, out.letters.len()), (None, 1), "{whom}");
            }
        }
    }
}

/// Emits one record, long or short.
struct Long(Option<bool>);

impl Spout for Long {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        if let Some(long) = self.0.take() {
            out.emit(&[b'x'; 1000][..if long { 1000 } else { 1 }]);
        }
        Ok(Poll::End)
    }
}

/// Emits a long one in this call.
struct Longer(&'static str);

impl Bolt for Longer {
    type Out = Text;

    fn close(&mut self, _: u64, _: Watermark, out: &mut Emitter<'_, Text>) -> Result<(), BoxError> {
        if self.0 == "close" {
            out.emit(&[b'x'; 1000][..]);
        }
        Ok(())
    }
}

impl Execute<Text> for Longer {
    fn execute(&mut self, _: &[u8], out: &mut Emitter<'_, Text>) -> Result<(), BoxError> {
        if self.0 == "execute" {
            out.emit(&[b'x'; 1000][..]);
        }
        Ok(())
    }
}
