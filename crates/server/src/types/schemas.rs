//! The document's schemas, collected from the types that operations name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::{
    ToSchema,
    openapi::{RefOr, schema::Schema},
};

const PLACE: &str = "#/components/schemas/";
/// What an answer says of fields that nothing read.
pub(crate) const WARNINGS: &str = "Warnings";

#[derive(Default)]
pub(crate) struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    /// Where to find a type's schema, which is then in the document with everything it refers to.
    pub(crate) fn reference<T: ToSchema>(&mut self) -> Value {
        self.collect::<T>(|_| {})
    }

    /// The same for a response, which has every field that is not left out on purpose.
    fn response<T: ToSchema>(&mut self) -> Value {
        self.collect::<T>(require_nullable)
    }

    fn collect<T: ToSchema>(&mut self, finish: impl Fn(&mut Value)) -> Value {
        let name = T::name().into_owned();
        if !self.0.contains_key(&name) {
            let mut schemas: Vec<(String, RefOr<Schema>)> = Vec::new();
            T::schemas(&mut schemas);
            schemas.push((name.clone(), T::schema()));
            for (name, schema) in schemas {
                let mut schema = serde_json::to_value(schema).unwrap_or_default();
                finish(&mut schema);
                self.0.insert(name, schema);
            }
        }
        place(&name)
    }

    /// A schema that is written as JSON.
    pub(crate) fn put(&mut self, name: &str, schema: Value) -> Value {
        self.0.insert(name.to_owned(), schema);
        place(name)
    }

    pub(crate) fn envelope_of<T: ToSchema>(&mut self) -> Value {
        let data = self.response::<T>();
        self.envelope(&T::name(), &data)
    }

    /// The envelope around one of two types.
    pub(crate) fn envelope_of_either<T: ToSchema, U: ToSchema>(&mut self, name: &str) -> Value {
        let either = json!({"oneOf": [self.response::<T>(), self.response::<U>()]});
        let data = self.put(name, either);
        self.envelope(name, &data)
    }

    /// The envelope around a slice of a list.
    pub(crate) fn envelope_of_list<T: ToSchema>(&mut self) -> Value {
        let (item, name) = (self.response::<T>(), format!("{}List", T::name()));
        let data = self.put(
            &name,
            json!({
                "type": "object",
                "required": ["items", "nextCursor"],
                "properties": {
                    "items": {"type": "array", "items": item},
                    "nextCursor": {
                        "type": ["string", "null"],
                        "description": "The cursor of the next page; null at the end.",
                    },
                },
            }),
        );
        self.envelope(&name, &data)
    }

    fn envelope(&mut self, name: &str, data: &Value) -> Value {
        self.put(
            &format!("{name}Response"),
            json!({
                "type": "object",
                "required": ["success", "data", "message"],
                "properties": {
                    "success": {"type": "boolean", "const": true},
                    "data": data,
                    "message": {"type": "null"},
                    "warnings": place(WARNINGS),
                },
            }),
        )
    }

    /// All of them, in shapes that every generator of clients reads.
    pub(crate) fn render(mut self) -> Value {
        let in_place: BTreeMap<_, _> = self.0.extract_if(.., |name, _| name.starts_with('=')).collect();
        self.0.values_mut().for_each(|schema| write_in_place(schema, &in_place));
        let names: Vec<_> = self.0.keys().cloned().collect();
        for name in &names {
            let schema = self.0.get(name).cloned().unwrap_or_default();
            let whole = self.whole(schema);
            self.0.insert(name.clone(), whole);
        }
        for name in &names {
            self.name_variants(name);
        }
        let mut rendered: Map<String, Value> = self.0.into_iter().collect();
        rendered.values_mut().for_each(simplify);
        rendered.into()
    }

    /// A struct with others flattened into it, written out as the one object it is on the wire.
    fn whole(&self, schema: Value) -> Value {
        let Some(parts) = schema.get("allOf").and_then(Value::as_array) else { return schema };
        let (mut required, mut properties) = (Vec::new(), Map::new());
        for part in parts {
            let part = match part.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix(PLACE)) {
                Some(name) => self.whole(self.0.get(name).cloned().unwrap_or_default()),
                None => part.clone(),
            };
            required.extend(part.get("required").and_then(Value::as_array).cloned().unwrap_or_default());
            properties.extend(part.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
        }
        let mut whole = Map::new();
        if let Some(description) = schema.get("description") {
            whole.insert("description".to_owned(), description.clone());
        }
        whole.insert("type".to_owned(), "object".into());
        whole.insert("required".to_owned(), required.into());
        whole.insert("properties".to_owned(), properties.into());
        whole.into()
    }

    /// Variants that have a title become schemas of their own, told apart by the field that names them.
    fn name_variants(&mut self, name: &str) {
        for keyword in ["oneOf", "anyOf"] {
            let Some(schema) = self.0.get(name).filter(|schema| schema.get(keyword).is_some()).cloned()
            else {
                continue;
            };
            let variants = schema.get(keyword).and_then(Value::as_array).cloned().unwrap_or_default();
            let title = |variant: &Value| variant.get("title").and_then(Value::as_str).map(str::to_owned);
            let Some(titles) = variants.iter().map(title).collect::<Option<Vec<_>>>() else { continue };
            let mut mapping = Map::new();
            for (title, variant) in titles.iter().zip(variants) {
                if let Some(word) = variant.pointer("/properties/type/enum/0").and_then(Value::as_str) {
                    mapping.insert(word.to_owned(), format!("{PLACE}{title}").into());
                }
                self.0.insert(title.clone(), variant);
            }
            let Value::Object(mut named) = schema else { continue };
            named.remove(keyword);
            // Without a field that names them, the fields of one can be a part of another's.
            let keyword = if mapping.is_empty() { "anyOf" } else { keyword };
            named.insert(keyword.to_owned(), titles.iter().map(|title| place(title)).collect());
            if !mapping.is_empty() {
                let discriminator = json!({"propertyName": "type", "mapping": mapping});
                named.insert("discriminator".to_owned(), discriminator);
            }
            self.0.insert(name.to_owned(), named.into());
        }
    }
}

/// Requires the fields that may be null, in their order; not those of a document that callers write, which may leave them out.
fn require_nullable(schema: &mut Value) {
    if schema.get("additionalProperties").is_some() {
        return;
    }
    schema.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten().for_each(require_nullable);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_nullable = |property: &Value| {
        let types = property.get("type").and_then(Value::as_array).into_iter().flatten();
        let variants = property.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        types.chain(variants.filter_map(|variant| variant.get("type"))).any(|kind| kind == "null")
    };
    let required: Vec<Value> = properties
        .iter()
        .filter(|(name, property)| required.iter().any(|it| it == name.as_str()) || is_nullable(property))
        .map(|(name, _)| name.as_str().into())
        .collect();
    // Before the properties, as the library writes it.
    if let Some(schema) = schema.as_object_mut().filter(|_| !required.is_empty())
        && let Some(properties) = schema.remove("properties")
    {
        schema.insert("required".to_owned(), required.into());
        schema.insert("properties".to_owned(), properties);
    }
}

/// Puts small schemas, whose names begin with `=`, in the place of their names.
fn write_in_place(part: &mut Value, in_place: &BTreeMap<String, Value>) {
    match part {
        Value::Array(items) => items.iter_mut().for_each(|item| write_in_place(item, in_place)),
        Value::Object(map) => {
            map.values_mut().for_each(|value| write_in_place(value, in_place));
            let name = map.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix(PLACE));
            let Some(Value::Object(schema)) = name.and_then(|name| in_place.get(name)) else { return };
            let description = map.get("description").cloned().map(|text| ("description".to_owned(), text));
            // The library writes what a number or a list may hold behind its description.
            let is_bound = |name: &str| name.starts_with("max") || name.starts_with("min");
            let is_text = schema.get("type").is_some_and(|kind| kind == "string");
            let (bounds, kind): (Vec<_>, Vec<_>) =
                schema.clone().into_iter().partition(|(name, _)| is_bound(name) && !is_text);
            *map = kind.into_iter().chain(description).chain(bounds).collect();
        }
        _ => {}
    }
}

fn place(name: &str) -> Value {
    json!({"$ref": format!("{PLACE}{name}")})
}

/// A type written in place and what is said of the field come as two parts that must both hold, the second of which is
/// nothing but words (and, as the library has it, an object). They are one.
fn described_type(map: &Map<String, Value>) -> Option<Map<String, Value>> {
    let [Value::Object(kind), Value::Object(words)] = map.get("allOf")?.as_array()?.as_slice() else {
        return None;
    };
    let description = words.get("description").filter(|_| words.get("properties").is_none())?;
    let mut described = kind.clone();
    described.insert("description".to_owned(), description.clone());
    Some(described)
}

/// `oneOf` null and a plain type is one type that may be null.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(map) => {
            map.values_mut().for_each(simplify);
            if let Some(said) = described_type(map) {
                *map = said;
            }
            let Some(Value::Array(variants)) = map.get("oneOf") else { return };
            let null = json!({"type": "null"});
            let (Some(other), 2, true) =
                (variants.iter().find(|it| **it != null), variants.len(), variants.contains(&null))
            else {
                return;
            };
            let Some(other) = other.as_object().filter(|it| it.get("type").is_some_and(Value::is_string))
            else {
                return;
            };
            let mut merged = other.clone();
            merged.insert("type".to_owned(), json!([other.get("type"), "null"]));
            map.remove("oneOf");
            // What is said of the field goes before what is said of its type.
            merged.extend(std::mem::take(map));
            *map = merged;
        }
        _ => {}
    }
}
