//! What customers, banks and the provider's staff do, and what is read of it.

use super::bench::Bench;
use super::descriptions::Description;
use crate::support::{quick, send};

pub(super) async fn statuses_are_read_as_the_table_says(description: &'static Description) {
    let bench = Bench::start(description, quick()).await;
    for (make, steps, expected) in (description.statuses)() {
        let case = bench.begin(make).await;
        let made = bench.make(&case).await.outcome.unwrap().name;
        for &(path, body) in &steps {
            let url = format!("{}/{}", bench.world.origin, path.replace("{id}", &made));
            let kind =
                if body.starts_with('{') { "application/json" } else { "application/x-www-form-urlencoded" };
            let headers = [("authorization", description.authorization), ("content-type", kind)];
            let reply = send("POST", &url, &headers, body.to_owned()).await.unwrap();
            // A card that is declined is an error at some providers.
            assert!(matches!(reply.status, 200..=299 | 402), "{url}: {}", reply.text);
        }
        let seen = bench.read(&case, &made).await.outcome.unwrap();
        assert_eq!(seen.standing, Some(expected), "{make:?} after {steps:?}");
    }
}
