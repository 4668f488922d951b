//! One provider as a form: its adapter's own fields, with secrets that stay unless they are typed again.

use askama::Template;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tollgate_configuration::{Adapter, FieldSpec, OptionField, ValidationErrors};
use tollgate_domain::{PaymentMethod, id::EnvironmentId};
use tollgate_engine::{ConfigDocument, ConfigureError};

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::{config as config_pages, config_words::label_of, routing::text},
    request::{signed_in::SignedIn, submitted::Submitted},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Text,
    Secret,
    Tick,
    /// Names with commas between them.
    List,
    Environment,
}

/// A field of the form. Its name is its path below the provider's entry.
struct Field {
    name: String,
    label: String,
    hint: String,
    input: Input,
    value: String,
    /// Whether a secret is stored that stays if nothing is typed.
    is_kept: bool,
    error: Option<String>,
}

struct Section {
    title: &'static str,
    fields: Vec<Field>,
}

#[derive(Template)]
#[template(path = "provider.html")]
struct ProviderPage {
    frame: Frame,
    version: u64,
    /// The provider's name; empty for a new one.
    original: String,
    name: String,
    name_error: Option<String>,
    adapter: &'static str,
    adapter_title: &'static str,
    /// The others, for a provider that moves to one.
    other_adapters: Vec<(&'static str, &'static str)>,
    sections: Vec<Section>,
    errors: Vec<String>,
}

#[derive(Template)]
#[template(path = "provider_choice.html")]
struct ChoicePage {
    frame: Frame,
    /// Name, title and what it carries.
    adapters: Vec<(&'static str, &'static str, &'static str)>,
}

/// A provider as it is typed.
struct ProviderForm {
    version: u64,
    original: String,
    name: String,
    name_error: Option<String>,
    adapter: Adapter,
    sections: Vec<Section>,
    errors: Vec<String>,
}

pub(crate) async fn edit(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let asked = signed_in.query("adapter").map(|name| Adapter::parse(name).ok_or(PageError::Missing));
    let asked = asked.transpose()?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let original = signed_in.query("provider").unwrap_or_default().to_owned();
    let known =
        if original.is_empty() { None } else { Some(entry(&read, &original).ok_or(PageError::Missing)?) };
    let Some(adapter) = asked.or_else(|| known.and_then(adapter_of)) else {
        return choose(&signed_in).await;
    };
    let sections = sections(adapter, known.filter(|known| adapter_of(known) == Some(adapter)));
    let (version, name, errors) = (read.version, original.clone(), Vec::new());
    ProviderForm { version, original, name, name_error: None, adapter, sections, errors }
        .show(&signed_in)
        .await
}

async fn choose(signed_in: &SignedIn) -> Page {
    let adapters = Adapter::ALL.map(|adapter| {
        let carries = match adapter.method() {
            PaymentMethod::WebCard => "Cards",
            PaymentMethod::Ach => "Bank transfers by ACH, same-day ACH and instant payments",
        };
        (adapter.as_str(), adapter.title(), carries)
    });
    let frame = signed_in.frame("Add a provider", "providers").await?;
    page::render(&ChoicePage { frame, adapters: adapters.to_vec() })
}

pub(crate) async fn review(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let adapter = Adapter::parse(form.field("adapter")).ok_or(PageError::Missing)?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let original = form.field("original").to_owned();
    let known =
        if original.is_empty() { None } else { Some(entry(&read, &original).ok_or(PageError::Missing)?) };
    let name = if original.is_empty() { form.field("name").to_owned() } else { original.clone() };
    let is_same_adapter = known.and_then(adapter_of) == Some(adapter);
    let mut sections = sections(adapter, known.filter(|_| is_same_adapter));
    for field in sections.iter_mut().flat_map(|section| &mut section.fields) {
        field.value = form.field(&field.name).to_owned();
        if known.is_some() && !is_same_adapter && field.input == Input::Secret && field.value.is_empty() {
            let why = "Enter this secret: the adapter changes, so the stored ones are not kept.";
            field.error = Some(why.to_owned());
        }
    }
    let mut changed = ProviderForm {
        version: read.version,
        name_error: name_error(&read, &original, &name),
        errors: Vec::new(),
        original,
        name,
        adapter,
        sections,
    };
    if form.field("version").parse() != Ok(read.version) {
        changed
            .errors
            .push("The configuration has changed meanwhile; check the provider against it.".to_owned());
    }
    let entry = changed.entry(known.filter(|_| is_same_adapter));
    let mut document = read.document.clone();
    let providers =
        document.pointer_mut("/providers").and_then(Value::as_object_mut).ok_or(PageError::Missing)?;
    let removes = form.field("do") == "remove" && !changed.original.is_empty();
    if removes {
        providers.remove(&changed.original);
    } else {
        providers.insert(changed.name.clone(), entry);
    }
    if removes || !changed.has_errors() {
        match faults(signed_in, environment, &document).await? {
            None => {
                let version = Some(read.version);
                return config_pages::show_review(signed_in, environment, document, version, "providers")
                    .await;
            }
            Some(faults) if removes => changed.note_uses(faults),
            Some(faults) => changed.note(faults),
        }
    }
    changed.show(signed_in).await
}

/// What is wrong with a document.
async fn faults(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    document: &Value,
) -> Result<Option<ValidationErrors>, PageError> {
    match signed_in.console.engine.check_config(environment, document.clone()).await {
        Ok(_) => Ok(None),
        Err(ConfigureError::Faulty(faults)) => Ok(Some(faults)),
        Err(error) => Err(error.into()),
    }
}

impl ProviderForm {
    async fn show(self, signed_in: &SignedIn) -> Page {
        let is_new = self.original.is_empty();
        let page_title =
            if is_new { "Add a provider".to_owned() } else { format!("Provider {}", self.original) };
        let others = Adapter::ALL.into_iter().filter(|other| *other != self.adapter);
        page::render(&ProviderPage {
            frame: signed_in.frame(&page_title, "providers").await?,
            version: self.version,
            original: self.original,
            name: self.name,
            name_error: self.name_error,
            adapter: self.adapter.as_str(),
            adapter_title: self.adapter.title(),
            other_adapters: others.map(|other| (other.as_str(), other.title())).collect(),
            sections: self.sections,
            errors: self.errors,
        })
    }

    fn fields(&self) -> impl Iterator<Item = &Field> {
        self.sections.iter().flat_map(|section| &section.fields)
    }

    fn has_errors(&self) -> bool {
        let has_field_error = self.fields().any(|field| field.error.is_some());
        !self.errors.is_empty() || self.name_error.is_some() || has_field_error
    }

    /// The provider as the document has it. A secret that was not typed keeps the mask of the known one.
    fn entry(&self, known: Option<&Value>) -> Value {
        let mut entry = Map::new();
        entry.insert("adapter".to_owned(), json!(self.adapter.as_str()));
        for field in self.fields() {
            let value = match field.input {
                Input::Secret if field.value.is_empty() => value_at(known, &field.name).cloned(),
                Input::Tick => (!field.value.is_empty()).then(|| json!(true)),
                Input::List => {
                    let names = field.value.split(',').map(str::trim).filter(|name| !name.is_empty());
                    Some(names.collect::<Vec<_>>())
                        .filter(|names| !names.is_empty())
                        .map(|names| json!(names))
                }
                Input::Text | Input::Secret | Input::Environment => {
                    (!field.value.is_empty()).then(|| json!(field.value))
                }
            };
            let Some(value) = value else { continue };
            let (section, name) = field.name.split_once('.').unwrap_or(("", &field.name));
            if section.is_empty() {
                entry.insert(name.to_owned(), value);
            } else if let Some(section) = entry.entry(section).or_insert_with(|| json!({})).as_object_mut() {
                section.insert(name.to_owned(), value);
            }
        }
        Value::Object(entry)
    }

    /// Puts each fault beside its field.
    fn note(&mut self, faults: ValidationErrors) {
        let own = format!("providers.{}", self.name);
        for fault in faults {
            let below = fault.field.strip_prefix(&own).map(|rest| rest.trim_start_matches('.'));
            let name = below.map(|path| path.split('[').next().unwrap_or_default());
            let mut fields = self.sections.iter_mut().flat_map(|section| &mut section.fields);
            let field = name.and_then(|name| fields.find(|field| field.name == name));
            match (field, name) {
                (Some(field), _) if field.is_kept && field.value.is_empty() => {
                    let why = "Enter this secret again: the base URL or environment changes, and the stored secret \
                               would be sent to another address.";
                    field.error = Some(why.to_owned());
                }
                (Some(field), _) => field.error = Some(sentence(&field.label, &fault.message)),
                (None, Some("")) => self.name_error = Some(sentence("Provider", &fault.message)),
                (None, _) => self.errors.push(sentence(&fault.field, &fault.message)),
            }
        }
    }

    /// What keeps the provider from being removed.
    fn note_uses(&mut self, faults: ValidationErrors) {
        self.errors.push(format!("{} is still in use. Change these first:", self.original));
        self.errors.extend(faults.into_iter().map(|fault| fault.field));
    }
}

fn sentence(subject: &str, message: &str) -> String {
    format!("{subject} {message}.")
}

fn name_error(read: &ConfigDocument, original: &str, name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("Enter a name, such as cards_main.".to_owned());
    }
    let is_taken = original.is_empty() && entry(read, name).is_some();
    is_taken.then(|| format!("There is a provider {name} already; choose another name or edit that one."))
}

fn entry<'a>(read: &'a ConfigDocument, name: &str) -> Option<&'a Value> {
    read.document.get("providers").and_then(|providers| providers.get(name))
}

fn adapter_of(entry: &Value) -> Option<Adapter> {
    Adapter::parse(&text(entry, "adapter"))
}

fn value_at<'a>(entry: Option<&'a Value>, path: &str) -> Option<&'a Value> {
    entry.and_then(|entry| path.split('.').try_fold(entry, |value, part| value.get(part)))
}

/// Every field of an adapter, filled with what is known.
fn sections(adapter: Adapter, known: Option<&Value>) -> Vec<Section> {
    let field = |name: String, input: Input, hint: String| {
        let value = match (input, value_at(known, &name)) {
            (Input::Secret, _) | (_, None) => String::new(),
            (Input::Tick, Some(value)) => if value == &json!(true) { "1" } else { "" }.to_owned(),
            (Input::List, Some(value)) => {
                let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                names.collect::<Vec<_>>().join(", ")
            }
            (Input::Text | Input::Environment, Some(value)) => value.as_str().unwrap_or_default().to_owned(),
        };
        let is_kept = input == Input::Secret && value_at(known, &name).is_some();
        let label = label_of(name.rsplit('.').next().unwrap_or_default());
        Field { name, label, hint, input, value, is_kept, error: None }
    };
    let specified = |section: &str, specs: &[FieldSpec]| -> Vec<Field> {
        let of_spec = |spec: &FieldSpec| {
            let input = if spec.secret { Input::Secret } else { Input::Text };
            let name = format!("{section}.{}", spec.name);
            field(name.trim_start_matches('.').to_owned(), input, hint_of(spec))
        };
        specs.iter().map(of_spec).collect()
    };
    let options = adapter.option_fields().iter().map(|option| {
        let (input, hint) = option_input(*option, adapter);
        field(format!("options.{}", option.name()), input, hint)
    });
    let reached = vec![
        field("environment".to_owned(), Input::Environment, String::new()),
        field("baseUrl".to_owned(), Input::Text, "Leave empty for the provider's own address.".to_owned()),
    ];
    let all = [
        ("Account", specified("", adapter.entry_fields())),
        ("Credentials", specified("credentials", adapter.credential_fields())),
        ("Where the money comes from", specified("funding", adapter.funding_fields())),
        ("Where it is reached", reached),
        ("Options", options.collect()),
    ];
    let sections = all.into_iter().map(|(title, fields)| Section { title, fields });
    sections.filter(|section| !section.fields.is_empty()).collect()
}

fn hint_of(spec: &FieldSpec) -> String {
    let hint = match spec.name {
        "secretKey" => "Begins with sk_test_ or sk_live_, or with rk_ for a restricted key.",
        "publishableKey" => "Begins with pk_test_ or pk_live_.",
        "applicationId" => "Begins with sandbox- in the provider's sandbox.",
        "accountNumberId" => "For instant transfers only.",
        "companyName" => "The sender's name on the receiver's statement.",
        "originatingAccountId" => "The ID of an internal account.",
        "merchantAccount" => "The merchant account that takes the payments, as the Customer Area writes it.",
        "livePrefix" => {
            "For production: what your live endpoint's address begins with, before -checkout-live."
        }
        "clientKey" => "Begins with test_ or live_; of the same API credential as the API key.",
        "hmacKey" => {
            "The webhook's HMAC key, in hexadecimal. May be left empty: “Test and register the webhook” sets it. \
             Nothing can be paid without it, because only webhooks tell what was."
        }
        "hmacKeyPrevious" => "While the HMAC key is replaced: the one before.",
        "webhookPassword" => "Optional: the webhook's basic authentication, with the user tollgate.",
        name if name.starts_with("webhook") => {
            "May be left empty: “Test and register the webhook” sets it where the provider allows that."
        }
        _ => "",
    };
    match spec.length_max {
        Some(most) => format!("{hint} Optional, at most {most} characters."),
        None => hint.to_owned(),
    }
}

fn option_input(option: OptionField, adapter: Adapter) -> (Input, String) {
    match option {
        OptionField::PaymentMethods => {
            let names: Vec<_> = adapter.payment_methods().iter().map(|method| method.name).collect();
            let hint = format!(
                "In the order they are offered, with commas between them; empty is card. Known: {}.",
                names.join(", ")
            );
            (Input::List, hint)
        }
        OptionField::ReceiptEmail => {
            (Input::Tick, "The provider mails its own receipt to the customer.".to_owned())
        }
        OptionField::StatementDescriptorSuffix => {
            (Input::Text, "What follows the account's name on the customer's statement.".to_owned())
        }
        OptionField::ApiVersion => {
            (Input::Text, "Leave empty for the version that this release was written for.".to_owned())
        }
        OptionField::Account => {
            (Input::Text, "The connected account that payments are made for: acct_…".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(adapter: Adapter, known: Option<&Value>) -> ProviderForm {
        let (original, name) = ("p".to_owned(), "p".to_owned());
        let (version, name_error, errors) = (1, None, Vec::new());
        ProviderForm {
            version,
            original,
            name,
            name_error,
            adapter,
            sections: sections(adapter, known),
            errors,
        }
    }

    #[test]
    fn a_provider_comes_out_of_the_form_as_it_went_in() {
        for entry in [
            json!({"adapter": "stripe", "credentials": {"secretKey": "****abcd", "publishableKey": "pk_test_1"},
                "baseUrl": "https://stripe.example", "options": {"paymentMethods": ["card", "link"], "receiptEmail": true}}),
            json!({"adapter": "square", "credentials": {"accessToken": "****abcd", "applicationId": "a", "locationId": "l",
                "webhookSignatureKey": "****wxyz"}, "environment": "sandbox", "options": {"apiVersion": "2026-09-16"}}),
            json!({"adapter": "increase", "credentials": {"apiKey": "****abcd"},
                "funding": {"accountId": "account_1", "companyName": "Shop"}}),
            json!({"adapter": "modern_treasury", "credentials": {"organizationId": "o"}}),
            json!({"adapter": "adyen", "credentials": {"apiKey": "****abcd", "clientKey": "test_1", "hmacKey": "****EF01"},
                "merchantAccount": "ShopECOM", "livePrefix": "0123-Shop", "environment": "production"}),
        ] {
            let adapter = adapter_of(&entry).unwrap();
            assert_eq!(form(adapter, Some(&entry)).entry(Some(&entry)), entry);
        }
    }

    #[test]
    fn a_secret_is_never_in_the_form() {
        let entry = json!({"adapter": "stripe", "credentials": {"secretKey": "****abcd"}});
        let form = form(Adapter::Stripe, Some(&entry));
        let secrets: Vec<_> = form.fields().filter(|field| field.input == Input::Secret).collect();
        assert_eq!(secrets.iter().map(|field| field.is_kept).collect::<Vec<_>>(), [true, false]);
        assert!(secrets.iter().all(|field| field.value.is_empty()));
    }

    #[test]
    fn faults_stand_beside_their_fields() {
        let entry = json!({"adapter": "stripe", "credentials": {"secretKey": "****abcd"}});
        let mut form = form(Adapter::Stripe, Some(&entry));
        let mut faults = ValidationErrors::default();
        faults.add("providers.p.credentials.secretKey", "is masked");
        faults.add("providers.p.options.paymentMethods[1]", "is listed twice");
        faults.add("providers.p", "a provider's name must be shorter");
        faults.add("routing.web_card.default.provider", "is no provider");
        form.note(faults);
        let error =
            |name: &str| form.fields().find(|field| field.name == name).and_then(|field| field.error.clone());
        assert!(
            error("credentials.secretKey").is_some_and(|error| error.starts_with("Enter this secret again"))
        );
        assert_eq!(error("options.paymentMethods").as_deref(), Some("Payment methods is listed twice."));
        assert!(form.name_error.is_some());
        assert_eq!(form.errors, ["routing.web_card.default.provider is no provider."]);
    }
}
