//! Pages for customers, drawn on the server: no script, nothing fetched from elsewhere.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderValue, Method, StatusCode, header};

use crate::card::Typed;

const STYLE: &str = include_str!("page.css");

/// What a hosted checkout page shows.
#[derive(Debug)]
pub(crate) struct Checkout<'a> {
    /// The provider imitated.
    pub(crate) provider: &'a str,
    pub(crate) amount: String,
    pub(crate) items: &'a [String],
    pub(crate) problem: Option<&'a str>,
    /// Where "Cancel" leads.
    pub(crate) cancel: Option<&'a str>,
}

impl Checkout<'_> {
    pub(crate) fn response(&self) -> Response {
        let amount = escape(&self.amount);
        let items: Vec<String> = self.items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
        let items = items.concat();
        let problem = self.problem.map_or_else(String::new, |problem| {
            format!(r#"<p class="problem" role="alert" id="problem">{}</p>"#, escape(problem))
        });
        let described = if self.problem.is_some() { r#" aria-describedby="problem""# } else { "" };
        let cancel = self.cancel.map_or_else(String::new, |url| {
            format!(r#"<a class="button quiet" href="{}">Cancel</a>"#, escape(url))
        });
        let body = format!(
            r#"<h1>Checkout</h1>
<p class="amount">{amount}</p>
<ul>{items}</ul>
{problem}
<form method="post" action="" autocomplete="off">
<label for="number">Card number</label>
<input id="number" name="number" inputmode="numeric" placeholder="4242 4242 4242 4242"
 required maxlength="23" autofocus{described}>
<div class="pair">
<div><label for="expiry">Expiry (MM/YY)</label>
<input id="expiry" name="expiry" inputmode="numeric" placeholder="12/34" required maxlength="7"></div>
<div><label for="cvc">Security code</label>
<input id="cvc" name="cvc" inputmode="numeric" placeholder="123" required maxlength="4"></div>
</div>
<button type="submit">Pay {amount}</button>
</form>
{cancel}"#
        );
        let status = if self.problem.is_some() { StatusCode::PAYMENT_REQUIRED } else { StatusCode::OK };
        page(status, self.provider, "Checkout", &body)
    }
}

/// A page that only says something.
pub(crate) fn message(status: StatusCode, provider: &str, heading: &str, text: &str) -> Response {
    let body = format!("<h1>{}</h1>\n<p>{}</p>", escape(heading), escape(text));
    page(status, provider, heading, &body)
}

/// A whole page around a body that is HTML already.
pub(crate) fn page(status: StatusCode, provider: &str, title: &str, body: &str) -> Response {
    let title = escape(title);
    let html = format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} (simulator)</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<p class="note"><strong>Simulator.</strong> This page stands in for {provider}. No money moves; use test cards only.</p>
{body}
</main>
</body>
</html>
"#
    );
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

pub(crate) fn redirect(to: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

pub(crate) fn script(text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/javascript; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Adds parameters to an address that may have some already.
pub(crate) fn with_query(url: &str, pairs: &[(&str, &str)]) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, None), |(url, fragment)| (url, Some(fragment)));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let mark = if url.contains('?') { '&' } else { '?' };
    let fragment = fragment.map_or_else(String::new, |fragment| format!("#{fragment}"));
    format!("{url}{mark}{query}{fragment}")
}

/// The card in a posted checkout form.
pub(crate) fn typed_card(form: &[u8]) -> Typed {
    let mut typed = Typed::default();
    for (name, value) in form_urlencoded::parse(form) {
        match &*name {
            "number" => typed.number = value.into_owned(),
            "cvc" => typed.cvc = value.into_owned(),
            "expiry" => {
                let (month, year) =
                    value.split_once('/').or_else(|| value.split_at_checked(2)).unwrap_or((&value, ""));
                (typed.exp_month, typed.exp_year) = (month.trim().to_owned(), year.trim().to_owned());
            }
            _ => {}
        }
    }
    typed
}

/// `19.99 USD`.
pub(crate) fn amount_text(amount: i64, currency: &str) -> String {
    let currency = currency.to_ascii_uppercase();
    let digits: usize = match currency.as_str() {
        "BIF" | "CLP" | "DJF" | "GNF" | "JPY" | "KMF" | "KRW" | "MGA" | "PYG" | "RWF" | "UGX" | "VND"
        | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    };
    if digits == 0 {
        return format!("{amount} {currency}");
    }
    let unit = if digits == 3 { 1_000 } else { 100 };
    format!("{}.{:0digits$} {currency}", amount / unit, amount % unit)
}

pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Lets pages of any origin call the wire, as the providers do for their browser scripts.
pub(crate) async fn allow_any_origin(request: Request, next: Next) -> Response {
    let mut response = if request.method() == Method::OPTIONS {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        response
    } else {
        next.run(request).await
    };
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, stripe-version, square-version",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "300"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_addresses() {
        for (amount, currency, text) in
            [(1999, "usd", "19.99 USD"), (5, "eur", "0.05 EUR"), (500, "jpy", "500 JPY")]
        {
            assert_eq!(amount_text(amount, currency), text);
        }
        assert_eq!(with_query("https://a.test/b", &[("c", "d e")]), "https://a.test/b?c=d+e");
        assert_eq!(with_query("https://a.test/b?x=1#top", &[("c", "d")]), "https://a.test/b?x=1&c=d#top");
        assert_eq!(escape("<a href='\"'>&"), "&lt;a href=&#39;&quot;&#39;&gt;&amp;");
    }

    #[test]
    fn expiry_is_read_with_and_without_a_slash() {
        for form in ["expiry=12/34", "expiry=12+%2F+34", "expiry=1234"] {
            let typed = typed_card(form.as_bytes());
            assert_eq!((typed.exp_month.as_str(), typed.exp_year.as_str()), ("12", "34"), "{form}");
        }
    }
}
