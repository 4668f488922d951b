//! What is sealed under the master key: found by its key's name, and replaced value by value.

use tollgate_domain::id::SealingKeyId;
use tollgate_engine::ports::{
    PaymentChange, SealedKind, SealedPlace, SealedSecret, SealedValue, SealingKey, TransferProgress,
};

use super::{Nodes, samples::preparing, transfer_samples::sending};

const OLD: &str = "00112233aabbccdd";
const NEW: &str = "ffeeddcc99887766";

fn sealed(key: &str) -> String {
    format!("v1.{key}.c2VhbGVk")
}

pub async fn pins_can_be_moved(nodes: &Nodes) {
    assert_eq!(nodes.one.pinned("a pin").await.unwrap(), None);
    for value in ["first", "second"] {
        nodes.one.set_pin("a pin", value).await.unwrap();
        assert_eq!(nodes.two.pinned("a pin").await.unwrap().as_deref(), Some(value));
        assert_eq!(nodes.two.pin("a pin", "third").await.unwrap(), value);
    }
}

impl Nodes {
    /// One value of each kind under this key.
    async fn seal_one_of_each(&self, key: &str) {
        let environment = self.environment().await.id;
        let text = sealed(key);
        let document =
            format!(r#"{{"providers":{{"a":{{"credentials":{{"secretKey":{{"sealed":"{text}"}}}}}}}}}}"#);
        self.one.put_config(environment, &self.new_change(0, &document)).await.unwrap();
        let change = self.new_change(1, &document);
        self.one.propose_config(&self.proposal(environment, change), self.new_event_id(), 10).await.unwrap();
        let mut endpoint = self.new_endpoint(&["*"]);
        endpoint.secrets = vec![SealedSecret { sealed: text.clone(), until: None }];
        self.one.add_endpoint(environment, &endpoint, 10).await.unwrap();
        let payment = self.payment(environment).await;
        let mut attempt = self.new_attempt(1, 1);
        attempt.sealed_source = Some(text.clone());
        let change = PaymentChange { attempt: Some(attempt), ..self.change_to(0, preparing()) };
        self.change(environment, payment, &change).await;
        let (created_at, random) = self.next();
        let stored =
            SealingKey { id: SealingKeyId::new(created_at, random), sealed: text.clone(), created_at };
        self.one.put_sealing_keys(&[stored]).await.unwrap();
        self.fund(environment, 5_000, "f").await;
        let new = self.new_transfer(environment);
        self.reserve(&new).await;
        let progress = TransferProgress {
            sealed_account: Some(text.clone()),
            corrections: format!(r#"[{{"sealed_account_number":"{text}"}}]"#),
            ..sending()
        };
        self.change_transfer(&new, &self.transfer_change(0, progress)).await;
    }

    async fn sealed_by(&self, kind: SealedKind, key: &str) -> Vec<SealedValue> {
        self.two.sealed_values(kind, key, SealedPlace::FIRST, 100).await.unwrap()
    }
}

pub async fn sealed_values_are_found_by_their_key(nodes: &Nodes) {
    for key in [OLD, NEW, OLD, NEW, OLD] {
        nodes.seal_one_of_each(key).await;
    }
    for kind in SealedKind::ALL {
        let found = nodes.sealed_by(kind, OLD).await;
        assert_eq!(found.len(), 3, "{kind:?}: {found:?}");
        assert!(found.iter().all(|value| value.text.contains(&sealed(OLD))), "{found:?}");
        assert!(found.is_sorted_by_key(|value| value.place));
        let is_transfer = matches!(kind, SealedKind::BankAccount | SealedKind::Corrections);
        assert!(found.iter().all(|value| value.reference.is_empty() != is_transfer), "{found:?}");
        let mut paged = Vec::new();
        let mut after = SealedPlace::FIRST;
        while let [value] = nodes.one.sealed_values(kind, OLD, after, 1).await.unwrap().as_slice() {
            after = value.place;
            paged.push(value.clone());
        }
        assert_eq!(paged, found);
        assert_eq!(nodes.sealed_by(kind, "0000000000000000").await, []);
    }
}

pub async fn a_sealed_value_is_replaced_once(nodes: &Nodes) {
    nodes.seal_one_of_each(OLD).await;
    nodes.seal_one_of_each(OLD).await;
    for kind in SealedKind::ALL {
        let found = nodes.sealed_by(kind, OLD).await;
        let [first, second] = found.as_slice() else { panic!("{found:?}") };
        let text = first.text.replace(OLD, NEW);
        assert!(nodes.one.replace_sealed(kind, first, &text).await.unwrap(), "{kind:?}");
        // Whoever read it before does not write over it.
        assert!(!nodes.two.replace_sealed(kind, first, "anything").await.unwrap(), "{kind:?}");
        assert_eq!(nodes.sealed_by(kind, OLD).await, std::slice::from_ref(second));
        let replaced = nodes.sealed_by(kind, NEW).await;
        assert_eq!(replaced, [SealedValue { text, ..first.clone() }], "{kind:?}");
    }
}
