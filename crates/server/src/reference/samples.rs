//! Programs that make an operation's example call, for a reader to copy.

use std::fmt::Write as _;

use http::Method;
use serde_json::{Value, json};

use crate::{
    reference::{examples::Example, literal::Literal},
    router::Operation,
};

/// The TypeScript SDK's method for each operation of the client API; the Python SDK's has the same name in its own style.
const METHODS: &[(&str, &str)] = &[
    ("fee_quote", "fees.quote"),
    ("payment_prepare", "payments.createCheckout"),
    ("component_prepare", "payments.createComponent"),
    ("component_card", "payments.decideFee"),
    ("component_confirm", "payments.confirm"),
    ("component_switch", "payments.switch"),
    ("payment_read", "payments.retrieve"),
    ("customer_token_issue", "customerTokens.create"),
    ("transfer_preview", "transfers.preview"),
    ("transfer_make", "transfers.create"),
    ("transfer_cancel", "transfers.cancel"),
    ("payment_capture", "transactions.capture"),
    ("payment_void", "transactions.void"),
    ("refund_create", "refunds.create"),
    ("refund_list", "refunds.list"),
    ("refund_read", "refunds.retrieve"),
    ("transaction_list", "transactions.list"),
    ("transaction_read", "transactions.retrieve"),
    ("client_wallet", "wallets.list"),
];

/// The samples as `x-codeSamples` has them; nothing for an operation that the SDKs do not have.
pub(crate) fn of_operation(route: &Operation, example: Example<'_>) -> Option<Value> {
    let (_, method) = METHODS.iter().find(|(name, _)| *name == route.name)?;
    let sample = |lang: &str, label: &str, source: String| json!({"lang": lang, "label": label, "source": source.trim_end()});
    Some(json!([
        sample("curl", "curl", curl(route, example)),
        sample("typescript", "TypeScript", typescript(method, route, example)),
        sample("python", "Python", python(method, route, example)),
        sample("go", "Go", go(route, example)),
    ]))
}

fn address(example: Example<'_>) -> String {
    let mut address = example.path().to_owned();
    for (place, (name, value)) in example.query().into_iter().flatten().enumerate() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mark = if place == 0 { '?' } else { '&' };
        let _ = write!(address, "{mark}{name}={value}");
    }
    address
}

/// What stands in the path in place of its parameters.
fn path_values<'a>(route: &Operation, example: Example<'a>) -> Vec<&'a str> {
    let pairs = route.path.split('/').zip(example.path().split('/'));
    pairs.filter(|(part, _)| part.starts_with('{')).map(|(_, value)| value).collect()
}

fn curl(route: &Operation, example: Example<'_>) -> String {
    let mut text = format!("curl \"$TOLLGATE_URL{}\"", address(example));
    if route.method != Method::GET && example.body().is_none() {
        let _ = write!(text, " \\\n  -X {}", route.method);
    }
    text.push_str(" \\\n  -H \"Authorization: Bearer $TOLLGATE_KEY\"");
    if let Some(key) = example.idempotency_key() {
        let _ = write!(text, " \\\n  -H 'Idempotency-Key: {key}'");
    }
    if let Some(body) = example.body() {
        let body = Literal::Json.write(body, 0).replace('\'', r"'\''");
        let _ = write!(text, " \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'");
    }
    text.push('\n');
    text
}

fn typescript(method: &str, route: &Operation, example: Example<'_>) -> String {
    let mut arguments: Vec<_> =
        path_values(route, example).into_iter().map(|value| Value::from(value).to_string()).collect();
    let query = example.query().map(|query| Value::from(query.clone()));
    arguments.extend(example.body().or(query.as_ref()).map(|value| Literal::TypeScript.write(value, 0)));
    arguments.extend(
        example.idempotency_key().map(|key| Literal::TypeScript.write(&json!({"idempotencyKey": key}), 0)),
    );
    format!(
        "import {{ Tollgate }} from \"@tollgate/sdk\";\n\n\
         const tollgate = Tollgate.fromEnvironment();\n\
         const result = await tollgate.{method}({});\n\
         console.log(result);\n",
        arguments.join(", ")
    )
}

fn python(method: &str, route: &Operation, example: Example<'_>) -> String {
    let mut arguments: Vec<_> =
        path_values(route, example).into_iter().map(|value| Value::from(value).to_string()).collect();
    let query = example.query().map(|query| Value::from(query.clone()));
    arguments.extend(example.body().or(query.as_ref()).map(|value| Literal::Python.write(value, 0)));
    arguments.extend(example.idempotency_key().map(|key| format!("idempotency_key={}", Value::from(key))));
    format!(
        "from tollgate import Tollgate\n\n\
         tollgate = Tollgate.from_environment()\n\
         result = tollgate.{}({})\n\
         print(result)\n",
        snake_case(method),
        arguments.join(", ")
    )
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

fn go(route: &Operation, example: Example<'_>) -> String {
    let mut imports = vec!["fmt", "io", "log", "net/http", "os"];
    let mut headers =
        vec![r#"	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOLLGATE_KEY"))"#.to_owned()];
    if let Some(key) = example.idempotency_key() {
        headers.push(format!("\trequest.Header.Set(\"Idempotency-Key\", {})", Value::from(key)));
    }
    let (mut before, mut body) = (String::new(), "nil");
    if let Some(value) = example.body() {
        imports.push("strings");
        headers.push("\trequest.Header.Set(\"Content-Type\", \"application/json\")".to_owned());
        before = format!("\tbody := strings.NewReader(`{}`)\n", Literal::Json.write(value, 0));
        body = "body";
    }
    let imports = imports.join("\"\n\t\"");
    format!(
        "package main\n\nimport (\n\t\"{imports}\"\n)\n\nfunc main() {{\n{before}\
         \trequest, err := http.NewRequest(\"{}\", os.Getenv(\"TOLLGATE_URL\")+\"{}\", {body})\n{FAIL}\
         {}\n\
         \tresponse, err := http.DefaultClient.Do(request)\n{FAIL}\
         \tdefer response.Body.Close()\n\
         \tanswer, err := io.ReadAll(response.Body)\n{FAIL}\
         \tfmt.Println(response.Status, string(answer))\n}}\n",
        route.method,
        address(example),
        headers.join("\n"),
    )
}

const FAIL: &str = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n";
