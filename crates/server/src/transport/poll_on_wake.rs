//! A future that is polled only when it asked to be.
//!
//! A connection waits for its peer, and beside that for the end of the service or for a timeout. Whatever is
//! selected beside it is polled with every byte that moves, and polling a timer or a signal takes a lock that all
//! connections share. This one sleeps through its neighbors' wake-ups.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;

pub(crate) struct PollOnWake<F> {
    future: Pin<Box<F>>,
    alarm: Arc<Alarm>,
    own_waker: Waker,
    task: Option<Waker>,
}

struct Alarm {
    rang: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rang.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl<F: Future> PollOnWake<F> {
    pub(crate) fn new(future: F) -> Self {
        // The first poll is the one nobody has to ask for.
        let alarm = Arc::new(Alarm { rang: AtomicBool::new(true), task: AtomicWaker::new() });
        let own_waker = Waker::from(Arc::clone(&alarm));
        Self { future: Box::pin(future), alarm, own_waker, task: None }
    }
}

impl<F: Future> Future for PollOnWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let is_registered = this.task.as_ref().is_some_and(|task| task.will_wake(context.waker()));
        if is_registered && !this.alarm.rang.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        // Ringing used the registration up. It is made again before the alarm is taken back, so that one that rings in
        // between wakes the task again.
        this.alarm.task.register(context.waker());
        this.task = Some(context.waker().clone());
        if !this.alarm.rang.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        this.future.as_mut().poll(&mut Context::from_waker(&this.own_waker))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::AtomicUsize,
        time::{Duration, Instant},
    };

    use super::*;

    #[tokio::test]
    async fn it_is_polled_when_it_asked_and_not_when_others_did() {
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&polls);
        let mut inner = Box::pin(tokio::time::sleep(Duration::from_millis(50)));
        let counting = std::future::poll_fn(move |context| {
            counted.fetch_add(1, Ordering::Relaxed);
            inner.as_mut().poll(context)
        });
        let started = Instant::now();
        let busy = async {
            loop {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = PollOnWake::new(counting) => {}
            () = busy => {}
        }
        assert!(started.elapsed() >= Duration::from_millis(50));
        assert!(polls.load(Ordering::Relaxed) <= 4, "{} polls", polls.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn it_is_woken_as_often_as_it_asks() {
        let (send, mut receive) = tokio::sync::mpsc::channel(1);
        let counting = tokio::spawn(PollOnWake::new(async move {
            let mut sum = 0;
            while let Some(number) = receive.recv().await {
                sum += number;
            }
            sum
        }));
        for number in 1..=100 {
            send.send(number).await.unwrap();
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        drop(send);
        assert_eq!(tokio::time::timeout(Duration::from_secs(5), counting).await.unwrap().unwrap(), 5_050);
    }

    #[tokio::test]
    async fn it_wakes_a_task_that_waits_for_nothing_else() {
        let (send, receive) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(PollOnWake::new(receive));
        tokio::time::sleep(Duration::from_millis(20)).await;
        send.send(7).unwrap();
        assert_eq!(waiting.await.unwrap().unwrap(), 7);
    }
}
