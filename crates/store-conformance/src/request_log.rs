//! The log of client API calls.

use tollgate_domain::id::{EnvironmentId, KeyId, RequestId};
use tollgate_engine::ports::{LoggedRequest, QuoteCount, RequestFilter};

use super::{ALL, Nodes, at};

fn call(environment: EnvironmentId, number: u8) -> LoggedRequest {
    let at = at(i64::from(number) * 1_000);
    LoggedRequest {
        id: RequestId::new(at, [number; 10]),
        environment,
        at,
        key: KeyId::from_bytes([number % 2; 16]),
        method: "POST".to_owned(),
        path: format!("/client/v1/payments/{number}"),
        endpoint: "/client/v1/payments/{reference}".to_owned(),
        status: 200,
        code: None,
        fields: Vec::new(),
        took_millis: u32::from(number),
        reference: None,
    }
}

fn failed(environment: EnvironmentId, number: u8, code: &str) -> LoggedRequest {
    let fields = vec!["amountMinor".to_owned(), "currency".to_owned()];
    let reference = Some(format!("pay_{}", number % 3));
    LoggedRequest { status: 400, code: Some(code.to_owned()), fields, reference, ..call(environment, number) }
}

pub async fn calls_are_kept_once_and_found_by_every_filter(nodes: &Nodes) {
    let (environment, elsewhere) = (nodes.environment().await.id, nodes.environment().await.id);
    let mut calls: Vec<_> = (1..=5).map(|number| call(environment, number)).collect();
    calls.extend((6..=9).map(|number| failed(environment, number, "invalid_body")));
    calls.push(failed(environment, 10, "not_found"));
    nodes.one.record_requests(&calls, &[], &[]).await.unwrap();
    nodes.two.record_requests(&calls, &[], &[]).await.unwrap();
    nodes.one.record_requests(&[call(elsewhere, 3)], &[], &[]).await.unwrap();
    calls.reverse();
    let found = async |filter: &RequestFilter, before: Option<RequestId>, limit: u32| {
        nodes.two.requests(environment, filter, before, limit).await.unwrap()
    };
    let every = RequestFilter::default();
    assert_eq!(found(&every, None, ALL).await, calls);
    assert_eq!(found(&every, Some(calls[3].id), 2).await, calls[4..6]);
    let filters = [
        RequestFilter { failed: true, ..every.clone() },
        RequestFilter { code: Some("invalid_body".to_owned()), ..every.clone() },
        RequestFilter { endpoint: Some("/elsewhere".to_owned()), ..every.clone() },
        RequestFilter { key: Some(KeyId::from_bytes([1; 16])), ..every.clone() },
        RequestFilter { reference: Some("pay_1".to_owned()), ..every.clone() },
        RequestFilter { request: Some(calls[2].id), ..every.clone() },
        RequestFilter { failed: true, key: Some(KeyId::from_bytes([0; 16])), ..every.clone() },
    ];
    for filter in filters {
        let fits = |call: &&LoggedRequest| {
            (!filter.failed || call.code.is_some())
                && filter.code.as_ref().is_none_or(|code| call.code.as_ref() == Some(code))
                && filter.endpoint.as_ref().is_none_or(|endpoint| call.endpoint == *endpoint)
                && filter.key.is_none_or(|key| call.key == key)
                && filter.reference.as_ref().is_none_or(|it| call.reference.as_ref() == Some(it))
                && filter.request.is_none_or(|request| call.id == request)
        };
        let expected: Vec<_> = calls.iter().filter(fits).cloned().collect();
        assert_eq!(found(&filter, None, ALL).await, expected, "{filter:?}");
    }

    let groups = nodes.two.request_errors(environment, at(0), ALL).await.unwrap();
    let groups: Vec<_> = groups.iter().map(|it| (it.code.as_str(), it.count, it.last, it.last_at)).collect();
    assert_eq!(
        groups,
        [("invalid_body", 4, calls[1].id, at(9_000)), ("not_found", 1, calls[0].id, at(10_000))]
    );
    let latest = nodes.two.request_errors(environment, at(9_500), ALL).await.unwrap();
    assert_eq!(latest.len(), 1);

    assert_eq!(nodes.one.forget_requests(environment, at(6_000), 3).await.unwrap(), 3);
    assert_eq!(nodes.two.forget_requests(environment, at(6_000), 3).await.unwrap(), 2);
    assert_eq!(nodes.two.forget_requests(environment, at(6_000), 3).await.unwrap(), 0);
    assert_eq!(found(&every, None, ALL).await, calls[..5]);
    assert_eq!(nodes.two.requests(elsewhere, &every, None, ALL).await.unwrap().len(), 1);
}

pub async fn quotes_of_an_hour_are_added_up(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let count = |key: u8, hour: i64, count: u64| QuoteCount {
        environment,
        key: KeyId::from_bytes([key; 16]),
        hour: at(hour * 3_600_000),
        count,
    };
    nodes.one.record_requests(&[], &[count(1, 1, 5), count(2, 1, 7)], &[]).await.unwrap();
    nodes.two.record_requests(&[], &[count(1, 2, 1), count(1, 1, 10)], &[]).await.unwrap();
    let all = nodes.two.quote_counts(environment, at(0)).await.unwrap();
    assert_eq!(all, [count(1, 1, 15), count(2, 1, 7), count(1, 2, 1)]);
    assert_eq!(nodes.one.quote_counts(environment, at(3_600_001)).await.unwrap(), [count(1, 2, 1)]);
    nodes.one.forget_requests(environment, at(7_200_000), ALL).await.unwrap();
    assert_eq!(nodes.two.quote_counts(environment, at(0)).await.unwrap(), [count(1, 2, 1)]);
}
