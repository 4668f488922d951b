//! The tools, and what each of them takes.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::failure::Failure;

pub(super) struct ToolSpec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Whether it changes something.
    pub(super) writes: bool,
    arguments: &'static [Argument],
}

struct Argument {
    name: &'static str,
    kind: &'static str,
    is_required: bool,
    description: &'static str,
}

const fn required(name: &'static str, description: &'static str) -> Argument {
    Argument { name, kind: "string", is_required: true, description }
}

const fn optional(name: &'static str, kind: &'static str, description: &'static str) -> Argument {
    Argument { name, kind, is_required: false, description }
}

const PAYMENT: &[Argument] = &[
    required("amountMinor", "The principal in minor units, such as 12500 for 125.00 USD."),
    required("currency", "An ISO 4217 code."),
    optional("paymentMethod", "string", "web_card (default) or ach."),
    optional("flow", "string", "payment_component (default) or hosted_checkout; cards only."),
    optional("metadata", "object", "What routing rules can match."),
];

pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "find_payments",
        title: "Find payments",
        description: "Finds card payments and bank transfers, newest first, also preparations that were never paid.",
        writes: false,
        arguments: &[
            optional(
                "search",
                "string",
                "A reference or its beginning, an amount such as \"1044.44 USD\", a customer's name or e-mail address, a \
                 word of the description, or an ID of a request, an event, a dispute or of the provider.",
            ),
            optional("status", "string", "Only transactions in this status, such as failed."),
        ],
    },
    ToolSpec {
        name: "show_payment",
        title: "Show a payment",
        description: "One payment with its whole timeline: the request, every rule evaluated, the fees, each call to the \
                      provider, each webhook, each status, and why it failed if it did.",
        writes: false,
        arguments: &[required("reference", "Its serviceReference: pay_… or ach_….")],
    },
    ToolSpec {
        name: "list_transfers",
        title: "List payouts",
        description: "Bank transfers that pay out, newest first: amount, status, provider, and why one failed. With `waiting`, \
                      those that have not come to an end, and what each waits for.",
        writes: false,
        arguments: &[
            optional("search", "string", "A customer, an amount or an ID, as for find_payments."),
            optional("status", "string", "Only transfers in this status, such as failed."),
            optional(
                "waiting",
                "boolean",
                "Only those that wait for the provider or a person. Not with search or status.",
            ),
        ],
    },
    ToolSpec {
        name: "list_disputes",
        title: "List disputed payments",
        description: "Payments with a dispute, newest payment first: its reason, its status, its amount and until when evidence is \
                      taken.",
        writes: false,
        arguments: &[],
    },
    ToolSpec {
        name: "list_exceptions",
        title: "List discrepancies",
        description: "Where a provider's record and ours disagree: what we expected, what the provider reports. Nothing moves money \
                      here before a person has looked.",
        writes: false,
        arguments: &[optional("all", "boolean", "Also those that somebody has resolved.")],
    },
    ToolSpec {
        name: "explain_configuration",
        title: "Explain the configuration",
        description: "The configuration in force, without its secrets, its latest changes, and what its providers lack. With \
                      `setting`, that setting's value and what the documentation says about it.",
        writes: false,
        arguments: &[optional(
            "setting",
            "string",
            "A path in the document, such as settings.strictFields or routing.web_card.default.",
        )],
    },
    ToolSpec {
        name: "explain_routing",
        title: "Explain routing",
        description: "Which provider a payment would go to and why: every rule, every condition, every step of the fee.",
        writes: false,
        arguments: PAYMENT,
    },
    ToolSpec {
        name: "quote",
        title: "Quote a payment",
        description: "What a payment would cost and where it would go. Nothing is recorded.",
        writes: false,
        arguments: PAYMENT,
    },
    ToolSpec {
        name: "list_requests",
        title: "List API calls",
        description: "Recent calls of the client API, newest first: status, error code, the fields at fault.",
        writes: false,
        arguments: &[
            optional("failed", "boolean", "Only calls that failed."),
            optional("code", "string", "Only calls with this error code."),
            optional("reference", "string", "Only calls about this payment."),
            optional("requestId", "string", "Only this call."),
        ],
    },
    ToolSpec {
        name: "doctor",
        title: "Check for problems",
        description: "What needs attention: providers, endpoints, stuck work, disk, clocks, missing settings.",
        writes: false,
        arguments: &[],
    },
    ToolSpec {
        name: "search_docs",
        title: "Search the documentation",
        description: "The sections of Tollgate's documentation that fit the words best, errors included.",
        writes: false,
        arguments: &[required("query", "A few words, or an error code.")],
    },
    ToolSpec {
        name: "refund_payment",
        title: "Refund a payment",
        description: "Gives money of a card payment back to the customer. The person at the client is asked first.",
        writes: true,
        arguments: &[
            required("reference", "The payment: pay_…."),
            optional("amountMinor", "string", "The principal to give back; all that is left if omitted."),
            optional("reason", "string", "duplicate, fraudulent, requested_by_customer or other."),
            optional("idempotencyKey", "string", "That of an earlier call whose outcome is unknown."),
        ],
    },
    ToolSpec {
        name: "cancel_transfer",
        title: "Cancel a transfer",
        description: "Cancels a bank transfer that was not handed to the bank yet. The person at the client is asked first.",
        writes: true,
        arguments: &[required("reference", "The transfer: ach_….")],
    },
    ToolSpec {
        name: "resend_event",
        title: "Resend an event",
        description: "Delivers a webhook event again to every subscribed endpoint. The person at the client is asked first.",
        writes: true,
        arguments: &[required("event", "The event: evt_….")],
    },
];

impl ToolSpec {
    pub(super) fn describe(&self) -> Tool {
        let properties: Map<_, _> = self.arguments.iter().map(Argument::describe).collect();
        let needed = self.arguments.iter().filter(|argument| argument.is_required);
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        schema.insert("required".to_owned(), needed.map(|argument| argument.name).collect());
        schema.insert("additionalProperties".to_owned(), false.into());
        // No refund, cancellation or delivery can be taken back.
        let hints = ToolAnnotations::with_title(self.title).read_only(!self.writes).destructive(self.writes);
        Tool::new(self.name, self.description, Arc::new(schema)).with_annotations(hints)
    }

    /// An argument that is not known would be left out silently, and the answer would be about something else.
    pub(super) fn check(&self, given: &Map<String, Value>) -> Result<(), Failure> {
        let unknown = given.keys().find(|name| !self.arguments.iter().any(|known| known.name == **name));
        let Some(unknown) = unknown else { return Ok(()) };
        let known: Vec<_> = self.arguments.iter().map(|argument| argument.name).collect();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        Err(Failure::new(format!("{} does not take {unknown}; it takes {known}", self.name)))
    }
}

impl Argument {
    fn describe(&self) -> (String, Value) {
        (self.name.to_owned(), json!({ "type": self.kind, "description": self.description }))
    }
}
