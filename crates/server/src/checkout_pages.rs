//! Where a hosted checkout sends customers whose caller named no place of its own. Two plain pages, nothing to load.

use axum::response::Html;

const PAGE: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>TITLE</title>
<style>body{font:1.125rem/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto 0;padding:0 1.5rem;text-align:center}
h1{font-size:1.6rem;margin:0 0 .5rem}p{opacity:.8;margin:0}</style></head>
<body><main><h1>TITLE</h1><p>TEXT</p></main></body></html>"#;

pub(crate) async fn paid() -> Html<String> {
    page("Thank you", "Your payment is being processed. You can close this window.")
}

pub(crate) async fn canceled() -> Html<String> {
    page("Payment canceled", "You left the checkout. Go back to the shop to try again.")
}

fn page(title: &str, text: &str) -> Html<String> {
    Html(PAGE.replace("TITLE", title).replace("TEXT", text))
}
