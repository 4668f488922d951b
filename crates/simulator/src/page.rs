//! Pages for customers, drawn on the server: no script, nothing fetched from elsewhere.

use crate::card::Mistake;
use crate::prelude::*;
use axum::body::Body;
use http::HeaderValue;

const STYLE: &str = include_str!("page.css");

/// Whom customers pay. The providers' pages name the merchant; here there is one.
const MERCHANT: &str = "Demo shop";

pub(crate) type Cards = [(&'static str, &'static str); 4];

/// Cards to type: a good one, those that every provider declines, and one more.
pub(crate) const fn cards(good: &'static str, other: (&'static str, &'static str)) -> Cards {
    [(good, "Paid"), ("4000 0000 0000 0002", "Declined"), ("4000 0000 0000 9995", "No funds"), other]
}

#[derive(Debug, Default)]
pub(crate) struct Checkout<'a> {
    pub(crate) provider: &'a str,
    pub(crate) amount: String,
    pub(crate) items: &'a [String],
    pub(crate) problem: Option<Problem>,
    /// What else can be paid with: names and what they are called.
    pub(crate) others: &'a [(&'a str, &'a str)],
    pub(crate) cancel: Option<&'a str>,
    pub(crate) cards: &'a [(&'a str, &'a str)],
}

#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) text: String,
    /// For the developer who looks at the page.
    pub(crate) code: Option<String>,
    /// Where the customer should look.
    pub(crate) field: Option<Field>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Number,
    Expiry,
    Cvc,
}

impl Field {
    pub(crate) const fn of(mistake: Mistake) -> Self {
        match mistake {
            Mistake::Number => Self::Number,
            Mistake::Month | Mistake::Year => Self::Expiry,
            Mistake::Cvc => Self::Cvc,
        }
    }
}

impl Checkout<'_> {
    pub(crate) fn response(&self) -> Response {
        let amount = escape(&self.amount);
        let items: Vec<_> = self.items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
        let problem = self.problem.as_ref().map_or_else(String::new, Problem::html);
        let at_fault = |field: Field| match &self.problem {
            Some(problem) if problem.field == Some(field) => {
                r#" aria-invalid="true" aria-describedby="problem""#
            }
            _ => "",
        };
        let others: Vec<_> = self.others.iter().map(|(name, label)| {
            format!(r#"<button type="submit" name="method" value="{name}" class="quiet">Pay with {label}</button>"#)
        }).collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!(r#"<form method="post" action="">{}</form>"#, others.concat())
        };
        let cancel = self.cancel.map_or_else(String::new, |url| {
            format!(r#"<a class="button quiet" href="{}">Cancel and go back</a>"#, escape(url))
        });
        let cards: Vec<_> =
            self.cards.iter().map(|(card, what)| format!("<dt>{card}</dt><dd>{what}</dd>")).collect();
        let body = format!(
            include_str!("checkout.html"),
            amount = amount,
            problem = problem,
            others = others,
            cancel = cancel,
            merchant = merchant(),
            items = items.concat(),
            cards = cards.concat(),
            number = at_fault(Field::Number),
            expiry = at_fault(Field::Expiry),
            cvc = at_fault(Field::Cvc),
        );
        let (status, title) = match self.problem {
            Some(_) => (StatusCode::PAYMENT_REQUIRED, "Not paid yet: checkout"),
            None => (StatusCode::OK, "Checkout"),
        };
        document(status, self.provider, title, "checkout", &body)
    }
}

impl Problem {
    /// It takes the focus, so that a screen reader reads it and the next Tab leads into the form.
    fn html(&self) -> String {
        let code = self.code.as_ref().map_or_else(String::new, |code| {
            format!("<small>Simulator only: the provider's code is {}.</small>", escape(code))
        });
        let text = escape(&self.text);
        format!(
            r#"<div class="problem" role="alert" id="problem" tabindex="-1" autofocus>{text}{code}</div>"#
        )
    }
}

pub(crate) fn message(status: StatusCode, provider: &str, heading: &str, text: &str) -> Response {
    page(status, provider, heading, &format!("<h1>{}</h1>\n<p>{}</p>", escape(heading), escape(text)))
}

/// The bank's question whether the customer pays so much; nothing where it has none. What else it asks for is HTML.
pub(crate) fn bank_page(provider: &str, amount: Option<String>, asked: &str) -> Response {
    let Some(amount) = amount else {
        let text = "This payment does not need confirmation.";
        return message(StatusCode::NOT_FOUND, provider, "Nothing to confirm", text);
    };
    let body =
        format!(include_str!("bank.html"), merchant = MERCHANT, amount = escape(&amount), asked = asked);
    page(StatusCode::OK, provider, "Is this you?", &body)
}

/// A narrow page around a body that is HTML already.
pub(crate) fn page(status: StatusCode, provider: &str, title: &str, body: &str) -> Response {
    let body = format!("<div class=\"card\">\n{}\n{body}\n</div>", merchant());
    document(status, provider, title, "narrow", &body)
}

fn merchant() -> String {
    let initial: String = MERCHANT.chars().take(1).collect();
    format!(r#"<p class="merchant"><span class="mark" aria-hidden="true">{initial}</span>{MERCHANT}</p>"#)
}

fn document(status: StatusCode, provider: &str, title: &str, shape: &str, body: &str) -> Response {
    let title = escape(title);
    let html = format!(
        include_str!("page.html"),
        title = title,
        merchant = MERCHANT,
        style = STYLE,
        provider = provider,
        shape = shape,
        body = body
    );
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'",
        ),
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

/// A provider's script for browsers, with the card form that it draws.
pub(crate) fn script(own: &str) -> Response {
    let text = format!("(function () {{\n\"use strict\";\n{}{own}}})();\n", include_str!("card-form.js"));
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

/// What was typed into a field of a form.
pub(crate) fn form_field(form: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(form).find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

pub(crate) fn typed_card(form: &[u8]) -> Typed {
    let field = |name: &str| form_field(form, name).unwrap_or_default();
    let expiry = field("expiry");
    let (month, year) =
        expiry.split_once('/').or_else(|| expiry.split_at_checked(2)).unwrap_or((&expiry, ""));
    let (exp_month, exp_year) = (month.trim().to_owned(), year.trim().to_owned());
    Typed { number: field("number"), exp_month, exp_year, cvc: field("cvc") }
}

/// `1,019.99 USD`.
pub(crate) fn amount_text(amount: i64, currency: &str) -> String {
    let currency = currency.to_ascii_uppercase();
    let digits: usize = match currency.as_str() {
        "BIF" | "CLP" | "DJF" | "GNF" | "JPY" | "KMF" | "KRW" | "MGA" | "PYG" | "RWF" | "VND" | "VUV"
        | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    };
    let unit = match digits {
        0 => return format!("{} {currency}", grouped(amount)),
        3 => 1_000,
        _ => 100,
    };
    format!("{}.{:0digits$} {currency}", grouped(amount / unit), amount % unit)
}

/// Items as a page lists them: with their amounts, unless there is one whose amount is the total.
pub(crate) fn item_texts(items: Vec<(String, i64)>, currency: &str) -> Vec<String> {
    let has_several = items.len() > 1;
    let text = |(name, amount): (String, i64)| {
        if has_several { format!("{name}: {}", amount_text(amount, currency)) } else { name }
    };
    items.into_iter().map(text).collect()
}

/// `1,234,567`.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// Lets pages of any origin call the provider, as the providers do for their browser scripts.
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
            "authorization, content-type, idempotency-key, stripe-version, stripe-account, square-version",
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
        for (amount, currency, text) in [
            (1999, "usd", "19.99 USD"),
            (5, "eur", "0.05 EUR"),
            (500, "jpy", "500 JPY"),
            (100_000, "usd", "1,000.00 USD"),
            (12_345_678, "kwd", "12,345.678 KWD"),
            (1_234_567, "jpy", "1,234,567 JPY"),
        ] {
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
