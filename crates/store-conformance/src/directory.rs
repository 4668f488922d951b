//! Organizations, applications, environments, and the stream of their changes.

use std::time::Duration;

use tollgate_domain::id::{ApplicationId, OrganizationId};
use tollgate_engine::ports::{Created, DirectoryVersion, Page};

use super::{Nodes, all, at, created, issued, put};

pub async fn creation_is_repeatable(nodes: &Nodes) {
    let organization = nodes.new_organization("Acme");
    nodes.one.create_organization(&organization).await.unwrap();
    nodes.two.create_organization(&organization).await.unwrap();
    let application = nodes.new_application(organization.id, "Shop");
    created(nodes.one.create_application(&application).await.unwrap());
    created(nodes.two.create_application(&application).await.unwrap());
    let environment = nodes.new_environment(&application, "test");
    let first = created(nodes.one.create_environment(&environment).await.unwrap());
    let again = created(nodes.two.create_environment(&environment).await.unwrap());
    assert_eq!(first, again, "nothing changed the second time");

    assert_eq!(nodes.two.organization(organization.id).await.unwrap(), Some(organization.clone()));
    assert_eq!(nodes.two.application(application.id).await.unwrap(), Some(application.clone()));
    assert_eq!(nodes.two.environment(environment.id).await.unwrap(), Some(environment.clone()));
    assert_eq!(nodes.two.environments(application.id, all()).await.unwrap(), [environment]);
    assert_eq!(nodes.two.applications(organization.id, all()).await.unwrap(), [application]);
    assert_eq!(nodes.two.organizations(all()).await.unwrap(), [organization]);
}

pub async fn parents_must_exist(nodes: &Nodes) {
    let nobody = OrganizationId::from_bytes([9; 16]);
    let orphan = nodes.new_application(nobody, "Shop");
    assert_eq!(nodes.one.create_application(&orphan).await.unwrap(), Created::ParentMissing);
    assert_eq!(nodes.two.application(orphan.id).await.unwrap(), None);

    let environment = nodes.new_environment(&orphan, "test");
    assert_eq!(nodes.one.create_environment(&environment).await.unwrap(), Created::ParentMissing);
    // The application exists, but it is another organization's.
    let application = nodes.application().await;
    let mut stolen = nodes.new_environment(&application, "test");
    stolen.organization = nobody;
    assert_eq!(nodes.one.create_environment(&stolen).await.unwrap(), Created::ParentMissing);
    assert_eq!(nodes.two.environment(stolen.id).await.unwrap(), None);

    assert_eq!(nodes.two.organization(nobody).await.unwrap(), None);
    assert!(nodes.two.applications(nobody, all()).await.unwrap().is_empty());
    assert!(nodes.two.environments(ApplicationId::from_bytes([9; 16]), all()).await.unwrap().is_empty());
}

pub async fn names_are_taken_once(nodes: &Nodes) {
    let application = nodes.application().await;
    let first = nodes.new_environment(&application, "test");
    created(nodes.one.create_environment(&first).await.unwrap());
    let second = nodes.new_environment(&application, "test");
    assert_eq!(nodes.two.create_environment(&second).await.unwrap(), Created::NameTaken);
    assert_eq!(nodes.two.environment(second.id).await.unwrap(), None);
    created(nodes.two.create_environment(&nodes.new_environment(&application, "live")).await.unwrap());
    // Another application has names of its own.
    let other = nodes.application().await;
    created(nodes.two.create_environment(&nodes.new_environment(&other, "test")).await.unwrap());
}

pub async fn lists_are_pages_by_id(nodes: &Nodes) {
    let mut organizations = Vec::new();
    for count in 0..5 {
        organizations.push(nodes.new_organization(&format!("o{count}")));
    }
    // The order is that of the ids, not of the insertions.
    for organization in organizations.iter().rev() {
        nodes.one.create_organization(organization).await.unwrap();
    }
    let page = |after| Page { after, limit: 2 };
    assert_eq!(nodes.two.organizations(page(None)).await.unwrap(), organizations[..2]);
    assert_eq!(nodes.two.organizations(page(Some(organizations[1].id))).await.unwrap(), organizations[2..4]);
    assert_eq!(nodes.two.organizations(page(Some(organizations[3].id))).await.unwrap(), organizations[4..]);
    assert!(nodes.two.organizations(page(Some(organizations[4].id))).await.unwrap().is_empty());
    assert!(nodes.two.organizations(Page { after: None, limit: 0 }).await.unwrap().is_empty());
    let last = OrganizationId::from_bytes([0xff; 16]);
    assert!(nodes.two.organizations(page(Some(last))).await.unwrap().is_empty());

    let parent = organizations[0].id;
    let applications: Vec<_> =
        (0..3).map(|count| nodes.new_application(parent, &format!("a{count}"))).collect();
    for application in applications.iter().rev() {
        created(nodes.one.create_application(application).await.unwrap());
    }
    let page = |after| Page { after, limit: 2 };
    assert_eq!(nodes.two.applications(parent, page(None)).await.unwrap(), applications[..2]);
    assert_eq!(
        nodes.two.applications(parent, page(Some(applications[1].id))).await.unwrap(),
        applications[2..]
    );

    let environments: Vec<_> =
        ["a", "b", "c"].map(|name| nodes.new_environment(&applications[0], name)).into_iter().collect();
    for environment in environments.iter().rev() {
        created(nodes.one.create_environment(environment).await.unwrap());
    }
    let page = |after| Page { after, limit: 2 };
    let parent = applications[0].id;
    assert_eq!(nodes.two.environments(parent, page(None)).await.unwrap(), environments[..2]);
    assert_eq!(
        nodes.two.environments(parent, page(Some(environments[1].id))).await.unwrap(),
        environments[2..]
    );
}

pub async fn the_delta_is_what_was_touched(nodes: &Nodes) {
    let empty = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap();
    assert_eq!((empty.version, empty.environments.len()), (DirectoryVersion(0), 0));

    let (first, second) = (nodes.environment().await, nodes.environment().await);
    let key = nodes.key(first.id).await;
    let (_, version) = put(nodes.one.put_config(first.id, &nodes.new_change(0, "{}")).await.unwrap());

    let delta = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap();
    assert_eq!(delta.version, version);
    let mut ids: Vec<_> = delta.environments.iter().map(|state| state.environment.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, [first.id, second.id], "everything since the beginning");
    let whole = delta.environments.iter().find(|state| state.environment.id == first.id).unwrap();
    assert_eq!(whole.environment, first);
    assert_eq!(whole.keys, [key]);
    assert_eq!(whole.config_version, 1);
    let plain = delta.environments.iter().find(|state| state.environment.id == second.id).unwrap();
    assert_eq!((plain.keys.len(), plain.config_version), (0, 0));

    let nothing = nodes.two.directory_since(version).await.unwrap();
    assert_eq!((nothing.version, nothing.environments.len()), (version, 0));

    nodes.key(second.id).await;
    let delta = nodes.two.directory_since(version).await.unwrap();
    assert!(delta.version > version);
    assert_eq!(delta.environments.len(), 1, "only what was touched");
    assert_eq!(delta.environments[0].environment, second);
    assert_eq!(delta.environments[0].keys.len(), 1);

    // What leaves the directory as it was is not in it.
    let before = delta.version;
    nodes.fund(first.id, 10, "r").await;
    nodes.one.pin("name", "value").await.unwrap();
    assert!(nodes.two.directory_since(before).await.unwrap().environments.is_empty());
}

pub async fn versions_only_grow(nodes: &Nodes) {
    let application = nodes.application().await;
    let mut versions = Vec::new();
    for name in ["a", "b", "c"] {
        let environment = nodes.new_environment(&application, name);
        versions.push(created(nodes.one.create_environment(&environment).await.unwrap()));
        let key = nodes.new_key(environment.id);
        versions.push(issued(nodes.two.issue_key(&key).await.unwrap()));
        versions.push(put(nodes.one.put_config(environment.id, &nodes.new_change(0, "{}")).await.unwrap()).1);
        nodes.two.revoke_key(environment.id, key.id, at(5)).await.unwrap();
        versions.push(nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version);
    }
    assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
}

pub async fn changes_are_announced(nodes: &Nodes) {
    let mut signal = nodes.two.change_signal().await.unwrap();
    // A first announcement may come for nothing; what matters is the one after a change.
    let _ = tokio::time::timeout(Duration::from_millis(300), signal.announced()).await;
    for _ in 0..3 {
        let before = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
        let environment = nodes.environment().await;
        tokio::time::timeout(Duration::from_mins(1), signal.announced())
            .await
            .expect("the change is announced");
        let delta = nodes.two.directory_since(before).await.unwrap();
        assert_eq!(delta.environments[0].environment, environment, "and can be read by then");
    }
}

pub async fn pins_hold(nodes: &Nodes) {
    assert_eq!(nodes.one.pin("fingerprint", "first").await.unwrap(), "first");
    assert_eq!(nodes.two.pin("fingerprint", "second").await.unwrap(), "first");
    assert_eq!(nodes.two.pin("other", "second").await.unwrap(), "second");
    assert_eq!(nodes.one.pin("fingerprint", "first").await.unwrap(), "first");
}

pub async fn names_keep_their_letters(nodes: &Nodes) {
    for name in ["Зоря & Søn", "日本語 \u{1F9FE}", "a'b\"c\\d; DROP TABLE organizations", " two  spaces ", ""]
    {
        let organization = nodes.new_organization(name);
        nodes.one.create_organization(&organization).await.unwrap();
        assert_eq!(nodes.two.organization(organization.id).await.unwrap(), Some(organization.clone()));
        let application = nodes.new_application(organization.id, name);
        created(nodes.one.create_application(&application).await.unwrap());
        assert_eq!(nodes.two.application(application.id).await.unwrap(), Some(application));
    }
}

pub async fn it_takes_work(nodes: &Nodes) {
    nodes.one.probe().await.unwrap();
    nodes.two.probe().await.unwrap();
}
