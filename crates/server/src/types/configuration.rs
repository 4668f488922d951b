//! The configuration document's shape. `tollgate_configuration` reads it field by field and names every fault; what
//! must hold between its parts (a target names a provider of the document, a minimum is below its cap) is said in
//! `docs/configuration.md` and checked there.

use std::borrow::Cow;

use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::types::{
    scalars::{CurrencyInput, schema},
    shape, words,
};

const NAME: &str = "^[A-Za-z0-9_.-]{1,64}$";

/// The one document of an environment.
pub(crate) struct Configuration;

impl ToSchema for Configuration {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Configuration")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let mut put = |name: &str, json: Value| schemas.push((name.to_owned(), schema(json)));
        put("ConfiguredProvider", provider());
        put("ConfiguredRouting", routing());
        put("RoutingRule", rule());
        put("RoutingCondition", condition());
        put("RoutingTarget", target());
        put("ConfiguredShare", share());
        put("ConfiguredFee", fee());
        put("ConfiguredFeeLayer", fee_layer());
        put("ConfiguredLimit", limit());
        put("ConfiguredApproval", approval());
        put("EnvironmentSettings", settings());
        put("AchCalendar", calendar());
        put("AchCalendarRules", calendar_rules());
        put("ConfiguredMinorUnits", minor_units());
        schemas.push((CurrencyInput::name().into_owned(), CurrencyInput::schema()));
        schemas.push((words::PaymentMethod::name().into_owned(), words::PaymentMethod::schema()));
        schemas.push((words::ConditionOp::name().into_owned(), words::ConditionOp::schema()));
        schemas.push((words::Adapter::name().into_owned(), words::Adapter::schema()));
    }
}

impl PartialSchema for Configuration {
    fn schema() -> RefOr<Schema> {
        schema(object(
            &[],
            json!({
                "providers": {
                    "type": "object",
                    "description": "By name: 1 to 64 letters, digits, `_`, `-` or `.`.",
                    "additionalProperties": at("ConfiguredProvider"),
                },
                "routing": object(&[], json!({"web_card": at("ConfiguredRouting"), "ach": at("ConfiguredRouting")})),
                "fees": {"type": "array", "maxItems": 20000, "items": at("ConfiguredFee")},
                "limits": {"type": "array", "maxItems": 50, "items": at("ConfiguredLimit")},
                "approvals": object(&[], json!({
                    "transfers": {"type": "array", "maxItems": 100, "items": at("ConfiguredApproval")},
                    "refunds": {"type": "array", "maxItems": 100, "items": at("ConfiguredApproval")},
                    "funds": {"type": "array", "maxItems": 100, "items": at("ConfiguredApproval")},
                    "configuration": {"type": "boolean"},
                })),
                "settings": at("EnvironmentSettings"),
            }),
        ))
    }
}

shape!(Configuration);

fn at(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// An object without any other fields; those not required may be null.
fn object(required: &[&str], mut properties: Value) -> Value {
    for (name, property) in properties.as_object_mut().into_iter().flatten() {
        if !required.contains(&name.as_str()) {
            *property = json!({"oneOf": [{"type": "null"}, property.take()]});
        }
    }
    if required.is_empty() {
        json!({"type": "object", "additionalProperties": false, "properties": properties})
    } else {
        json!({"type": "object", "required": required, "additionalProperties": false, "properties": properties})
    }
}

fn boolean(default: bool) -> Value {
    json!({"type": "boolean", "default": default})
}

fn name() -> Value {
    json!({"type": "string", "pattern": NAME})
}

fn integer(least: u64, most: u64) -> Value {
    json!({"type": "integer", "format": "int64", "minimum": least, "maximum": most})
}

fn provider() -> Value {
    let fields =
        json!({"type": "object", "additionalProperties": {"type": ["string", "null"], "maxLength": 4096}});
    object(
        &["adapter"],
        json!({
            "adapter": at("Adapter"),
            "credentials": fields,
            "baseUrl": {"type": "string", "maxLength": 2000, "description": "The base URL, if not the default."},
            "environment": {"type": "string", "enum": ["sandbox", "production"]},
            "funding": fields,
            "merchantAccount": {"type": "string", "maxLength": 4096, "description": "The account at the provider, where its keys are for several."},
            "livePrefix": {"type": "string", "maxLength": 4096, "description": "What the provider's addresses for live payments begin with, where each company has its own."},
            "options": options(),
        }),
    )
}

fn options() -> Value {
    object(
        &[],
        json!({
            "paymentMethods": {
                "type": "array", "minItems": 1, "maxItems": 40, "default": ["card"],
                "items": {"type": "string", "maxLength": 64},
                "description": "What customers may pay with, by the provider's names.",
            },
            "receiptEmail": {
                "type": "boolean", "default": false,
                "description": "Whether the provider mails its own receipt to `customer.email`.",
            },
            "statementDescriptorSuffix": {
                "type": "string", "maxLength": 22,
                "description": "What follows the account's own name on the customer's card statement.",
            },
            "apiVersion": {
                "type": "string", "maxLength": 64,
                "description": "The version of the provider's API, if not the one this service was written for.",
            },
            "account": {
                "type": "string", "maxLength": 255, "pattern": "^acct_",
                "description": "The connected account that payments are made for.",
            },
        }),
    )
}

fn routing() -> Value {
    object(
        &[],
        json!({
            "enabled": boolean(true),
            "rules": {"type": "array", "maxItems": 20000, "items": at("RoutingRule")},
            "default": at("RoutingTarget"),
        }),
    )
}

fn rule() -> Value {
    object(
        &["id", "target"],
        json!({
            "id": name(),
            "enabled": boolean(true),
            "conditions": {"type": "array", "maxItems": 100, "items": at("RoutingCondition")},
            "target": at("RoutingTarget"),
        }),
    )
}

fn condition() -> Value {
    object(
        &["id", "field", "op", "value"],
        json!({
            "id": name(),
            "field": {
                "type": "string", "maxLength": 500,
                "description": "`amountMinor`, `currency`, `flow` or `metadata.<key>`.",
            },
            "op": at("ConditionOp"),
            "value": {
                "description": "The value to compare with: a list for `in` and `notIn`, a boolean for `exists`.",
                "oneOf": [
                    {"type": "string"},
                    {"type": "number"},
                    {"type": "boolean"},
                    {"type": "array", "maxItems": 10000, "items": {"type": ["string", "number", "boolean"]}},
                ],
            },
        }),
    )
}

/// One provider and channel, or a split among several, and the fallbacks of either.
fn target() -> Value {
    let fallbacks = json!({
        "type": "array", "maxItems": 10,
        "items": object(&["provider", "channel"], one_target()),
        "description": "Tried in order where the provider before is not ready or is proven to have made nothing.",
    });
    let split = object(
        &["split"],
        json!({
            "split": {"type": "array", "minItems": 1, "maxItems": 20, "items": at("ConfiguredShare")},
            "splitBy": {
                "type": "string", "maxLength": 500, "pattern": "^metadata\\..+$",
                "description": "The metadata value that decides, so that one customer stays with one provider; without \
                                it, or in a payment that does not have it, the payment's reference decides.",
            },
            "fallbacks": fallbacks,
        }),
    );
    let mut one = one_target();
    if let Some(fields) = one.as_object_mut() {
        fields.insert("fallbacks".to_owned(), fallbacks);
    }
    json!({"oneOf": [object(&["provider", "channel"], one), split]})
}

fn one_target() -> Value {
    json!({
        "provider": name(),
        "channel": {"type": "string", "enum": ["web_card", "standard_ach", "same_day_ach", "instant"]},
    })
}

fn share() -> Value {
    let mut share = one_target();
    if let Some(fields) = share.as_object_mut() {
        fields.insert("weight".to_owned(), integer(1, 1_000_000));
    }
    object(&["provider", "channel", "weight"], share)
}

fn fee() -> Value {
    object(
        &["provider", "paymentMethod", "channel", "currency"],
        json!({
            "provider": name(),
            "paymentMethod": at("PaymentMethod"),
            "channel": {"type": "string", "enum": ["none", "standard_ach", "same_day_ach", "instant"]},
            "currency": at("CurrencyInput"),
            "platform": at("ConfiguredFeeLayer"),
            "organization": at("ConfiguredFeeLayer"),
        }),
    )
}

fn fee_layer() -> Value {
    object(
        &[],
        json!({
            "feeKind": at("FeeKind"),
            "enabled": boolean(true),
            "fixedFeeMinor": at("ConfiguredMinorUnits"),
            "percentFeeBps": integer(0, 10000),
            "minimumFeeMinor": at("ConfiguredMinorUnits"),
            "capFeeMinor": at("ConfiguredMinorUnits"),
        }),
    )
}

fn limit() -> Value {
    object(
        &["id", "paymentMethod", "per", "windowSeconds"],
        json!({
            "id": name(),
            "paymentMethod": at("PaymentMethod"),
            "per": {
                "type": "string", "enum": ["environment", "customer", "account"],
                "description": "Whose payments are added up. `account` is for transfers only.",
            },
            "windowSeconds": integer(1, 31_622_400),
            "maxCount": integer(1, 1_000_000_000),
            "maxAmountMinor": at("ConfiguredMinorUnits"),
            "action": {"type": "string", "enum": ["refuse", "review"], "default": "refuse",
                "description": "`review`, for transfers: what exceeds the limit waits for a person's approval."},
        }),
    )
}

fn approval() -> Value {
    object(
        &["id"],
        json!({
            "id": name(),
            "conditions": {
                "type": "array", "maxItems": 100, "items": at("RoutingCondition"),
                "description": "As in routing; the field `firstToAccount` with `eq` and a boolean asks whether no transfer to the same bank account was approved before; of funds, `cause` with `eq` asks for `fund` or `withdraw`.",
            },
            "count": integer(1, 10),
        }),
    )
}

fn minor_units() -> Value {
    json!({
        "description": "Minor units from 0 to 10^18.",
        "oneOf": [
            {"type": "string", "pattern": "^(0|[1-9][0-9]{0,17}|1000000000000000000)$"},
            {"type": "integer", "format": "int64", "minimum": 0, "maximum": 1_000_000_000_000_000_000_u64},
        ],
    })
}

fn origins() -> Value {
    let pattern = r"^https?://[A-Za-z0-9.:\[\]-]+$";
    json!({"type": "array", "maxItems": 100, "items": {"type": "string", "maxLength": 300, "pattern": pattern}})
}

fn settings() -> Value {
    object(
        &[],
        json!({
            "secretKeyForPreparation": boolean(false),
            "preparationLifetimeSeconds": integer(60, 2_592_000),
            "returnOrigins": origins(),
            "allowedOrigins": origins(),
            "customerTokenLifetimeSeconds": integer(1, 315_360_000),
            "customerTokenKey": integer(1, u64::from(u32::MAX)),
            "customerTokenOldestKey": integer(1, u64::from(u32::MAX)),
            "achCalendar": at("AchCalendar"),
            "checkProviderFunds": boolean(false),
            "forwardMetadata": {
                "type": "array", "maxItems": 40, "uniqueItems": true,
                "items": {"type": "string", "minLength": 1, "maxLength": 40, "pattern": r"^[^\[\]]+$"},
            },
            "feeRefund": {"type": "string", "enum": ["proportional", "full", "none"], "default": "proportional"},
            "circuit": object(
                &[],
                json!({
                    "enabled": boolean(true),
                    "windowSeconds": integer(1, 86_400),
                    "minimumCalls": integer(1, 1_000_000),
                    "failurePercent": integer(1, 100),
                    "openSeconds": integer(1, 86_400),
                    "forced": {
                        "type": "object",
                        "description": "By provider: what an operator has decided about its circuit.",
                        "additionalProperties": {"type": ["string", "null"], "enum": ["open", "closed", null]},
                    },
                }),
            ),
            "fallbackMayCostMore": boolean(false),
            "feeProgram": fee_program(),
            "rateLimitPerSecond": integer(1, 1_000_000),
            "retention": object(
                &[],
                json!({"customerDataDays": integer(1, 3_650), "providerEventDays": integer(30, 3_650)}),
            ),
            "requestLogDays": integer(1, 90),
            "strictFields": boolean(false),
            "returnRates": object(
                &[],
                json!({
                    "administrativeBps": integer(0, 10_000),
                    "unauthorizedBps": integer(0, 10_000),
                    "minimumTransfers": integer(1, 1_000_000),
                }),
            ),
            "surchargeWarningBps": integer(0, 10_000),
        }),
    )
}

fn fee_program() -> Value {
    let day = json!({"type": "string", "format": "date"});
    object(
        &["merchant"],
        json!({
            "merchant": {
                "type": "object", "required": ["country"], "additionalProperties": false,
                "properties": {
                    "country": at("CountryInput"),
                    "state": {"oneOf": [{"type": "null"}, at("StateInput")]},
                    "mcc": {"type": ["string", "null"], "pattern": "^[0-9]{4}$"},
                },
                "description": "Where the merchant sells from, and its category.",
            },
            "acceptedBrands": {
                "type": "array", "maxItems": 20, "items": at("CardBrand"),
                "description": "The card networks it takes; empty for all.",
            },
            "cost": {
                "type": "object",
                "description": "By provider: what accepting a card costs.",
                "additionalProperties": {
                    "type": "object", "required": ["percentBps"], "additionalProperties": false,
                    "properties": {
                        "percentBps": integer(0, 10_000),
                        "fixedMinor": {"oneOf": [{"type": "null"}, at("ConfiguredMinorUnits")]},
                    },
                },
            },
            "noticeGivenOn": day,
            "entryNoticeAttested": boolean(false),
            "amexParityConfirmed": boolean(false),
            "postedTotalPrice": boolean(false),
            "onlineOnly": {"type": "boolean"},
            "overrides": {
                "type": "array", "maxItems": 100,
                "items": {
                    "type": "object", "required": ["id", "reason", "expiresOn"], "additionalProperties": false,
                    "properties": {
                        "id": {"type": "string", "minLength": 1, "maxLength": 64},
                        "reason": {"type": "string", "minLength": 1, "maxLength": 1000},
                        "document": {"type": ["string", "null"], "minLength": 1, "maxLength": 500},
                        "expiresOn": day,
                    },
                },
                "description": "Rules that somebody has set aside, each until a day within a year.",
            },
        }),
    )
}

fn calendar() -> Value {
    object(
        &[],
        json!({
            "rules": {"type": "array", "maxItems": 100, "items": at("AchCalendarRules")},
            "closedDays": {"type": "array", "maxItems": 1000, "items": {"type": "string", "format": "date"}},
        }),
    )
}

fn calendar_rules() -> Value {
    let time = json!({"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$", "examples": ["16:45"]});
    object(
        &["from", "sameDayLimitMinor", "sameDayCutoff", "standardCutoff"],
        json!({
            "from": {"type": "string", "format": "date"},
            "sameDayLimitMinor": at("ConfiguredMinorUnits"),
            "sameDayCutoff": time,
            "standardCutoff": time,
        }),
    )
}
