//! Configurations and their history.

use tollgate_domain::id::EnvironmentId;
use tollgate_engine::ports::{ConfigPut, ConfigVersion, DirectoryVersion};

use super::{ALL, Nodes, put};

pub async fn an_environment_begins_empty(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let empty = Some(ConfigVersion { version: 0, document: None });
    assert_eq!(nodes.two.config(environment.id).await.unwrap(), empty);
    assert_eq!(nodes.two.config_version(environment.id, 0).await.unwrap(), empty);
    assert_eq!(nodes.two.config_version(environment.id, 1).await.unwrap(), None);
    assert!(nodes.two.config_history(environment.id, None, ALL).await.unwrap().is_empty());

    let nowhere = EnvironmentId::from_bytes([9; 16]);
    assert_eq!(nodes.two.config(nowhere).await.unwrap(), None);
    assert_eq!(nodes.two.config_version(nowhere, 0).await.unwrap(), None);
    let answer = nodes.one.put_config(nowhere, &nodes.new_change(0, "{}")).await.unwrap();
    assert_eq!(answer, ConfigPut::EnvironmentMissing);
}

pub async fn putting_counts_up(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let mut before = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
    for from in 0..4_u64 {
        let document = format!("{{\"made_from\":{from}}}");
        let (version, directory) =
            put(nodes.one.put_config(environment.id, &nodes.new_change(from, &document)).await.unwrap());
        assert_eq!(version, from + 1);
        assert!(directory > before);
        before = directory;
        let stored = Some(ConfigVersion { version, document: Some(document) });
        assert_eq!(nodes.two.config(environment.id).await.unwrap(), stored);
        assert_eq!(nodes.two.config_version(environment.id, version).await.unwrap(), stored);
    }
    let first = nodes.two.config_version(environment.id, 1).await.unwrap().unwrap();
    assert_eq!(first.document.as_deref(), Some("{\"made_from\":0}"), "the history keeps what was");
    assert_eq!(nodes.two.config_version(environment.id, u64::MAX).await.unwrap(), None);
}

pub async fn putting_is_repeatable(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let change = nodes.new_change(0, "first");
    let first = nodes.one.put_config(environment.id, &change).await.unwrap();
    assert_eq!(nodes.two.put_config(environment.id, &change).await.unwrap(), first);
    // Also when it is no longer in force, and even if it were made from another version now.
    put(nodes.one.put_config(environment.id, &nodes.new_change(1, "second")).await.unwrap());
    assert_eq!(put(nodes.two.put_config(environment.id, &change).await.unwrap()).0, 1);
    let mut remade = change.clone();
    remade.from_version = 2;
    assert_eq!(put(nodes.two.put_config(environment.id, &remade).await.unwrap()).0, 1);
    assert_eq!(nodes.two.config(environment.id).await.unwrap().unwrap().document.as_deref(), Some("second"));
    assert_eq!(nodes.two.config_history(environment.id, None, ALL).await.unwrap().len(), 2);
}

pub async fn a_stale_change_is_refused(nodes: &Nodes) {
    let environment = nodes.environment().await;
    put(nodes.one.put_config(environment.id, &nodes.new_change(0, "first")).await.unwrap());
    let before = nodes.one.directory_since(DirectoryVersion::default()).await.unwrap().version;
    for from in [0, 2, u64::MAX] {
        let answer = nodes.two.put_config(environment.id, &nodes.new_change(from, "other")).await.unwrap();
        assert_eq!(answer, ConfigPut::Stale { current: 1 }, "made from {from}");
    }
    assert_eq!(nodes.one.config(environment.id).await.unwrap().unwrap().document.as_deref(), Some("first"));
    assert_eq!(nodes.one.config_history(environment.id, None, ALL).await.unwrap().len(), 1);
    assert!(nodes.two.directory_since(before).await.unwrap().environments.is_empty());
}

pub async fn history_is_newest_first(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let mut moments = Vec::new();
    for from in 0..5 {
        let mut change = nodes.new_change(from, "{}");
        change.actor = format!("Łucja {from}");
        change.request = format!("req_{from}");
        moments.push(change.at);
        put(nodes.one.put_config(environment.id, &change).await.unwrap());
    }
    let history = nodes.two.config_history(environment.id, None, 3).await.unwrap();
    assert_eq!(history.iter().map(|line| line.version).collect::<Vec<_>>(), [5, 4, 3]);
    assert_eq!((history[0].actor.as_str(), history[0].request.as_str()), ("Łucja 4", "req_4"));
    assert_eq!(history[0].at, moments[4]);
    let rest = nodes.two.config_history(environment.id, Some(3), ALL).await.unwrap();
    assert_eq!(rest.iter().map(|line| line.version).collect::<Vec<_>>(), [2, 1]);
    assert!(nodes.two.config_history(environment.id, Some(1), ALL).await.unwrap().is_empty());
    assert_eq!(nodes.two.config_history(environment.id, Some(u64::MAX), ALL).await.unwrap().len(), 5);
}

pub async fn large_documents_fit(nodes: &Nodes) {
    let environment = nodes.environment().await;
    // Four megabytes of letters that take two and four bytes each.
    let document = "ż\u{1F9FE}".repeat(4 * 1024 * 1024 / 6);
    put(nodes.one.put_config(environment.id, &nodes.new_change(0, &document)).await.unwrap());
    let stored = nodes.two.config(environment.id).await.unwrap().unwrap().document.unwrap();
    assert!(stored == document, "the document came back changed, {} bytes long", stored.len());
    let stored = nodes.two.config_version(environment.id, 1).await.unwrap().unwrap().document.unwrap();
    assert!(stored == document);
}
