// Judges recorded exchanges and webhooks by published OpenAPI documents.
//
// node document.mjs RECORDING DOCUMENT..., with the libraries' folder in MODULES. A line for each fault, then one with what was judged.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.MODULES}/`);
const { default: Ajv } = require("ajv/dist/2020.js");
const { default: addFormats } = require("ajv-formats");

// The documents let any field pass. Here an object knows its fields, unless it is composed of several.
function close(schema) {
  if (Array.isArray(schema)) return schema.forEach(close);
  if (schema === null || typeof schema !== "object") return;
  const isComposed = schema.allOf || schema.anyOf || schema.oneOf;
  if (schema.properties && !isComposed) schema.additionalProperties ??= false;
  Object.values(schema).forEach(close);
}

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
addFormats(ajv);
// Documentation, and names of formats that are none of JSON Schema's.
["int32", "int64", "double", "float"].forEach((name) => ajv.addFormat(name, true));

const operations = [];
const webhooks = new Map();
const point = (parts) => parts.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

for (const [index, path] of process.argv.slice(3).entries()) {
  const document = JSON.parse(readFileSync(path, "utf8"));
  Object.values(document.components.schemas).forEach(close);
  const id = `document-${index}`;
  ajv.addSchema({ ...document, $id: id }, id);
  const compile = (...parts) => {
    const found = parts.reduce((value, part) => value?.[part], document);
    return found && ajv.compile({ $ref: `${id}#${encodeURI(point(parts))}` });
  };
  const json = ["content", "application/json", "schema"];
  for (const [template, methods] of Object.entries(document.paths)) {
    const [server] = methods.servers ?? document.servers;
    const fits = new RegExp(`^${new URL(server.url).pathname}${template.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`);
    for (const method of ["get", "post", "patch", "delete"].filter((method) => methods[method])) {
      const place = ["paths", template, method];
      const answers = Object.keys(methods[method].responses ?? {});
      operations.push({
        method: method.toUpperCase(),
        fits,
        request: compile(...place, "requestBody", ...json),
        answers: new Map(answers.map((status) => [status, compile(...place, "responses", status, ...json)])),
      });
    }
  }
  for (const code of Object.keys(document.webhooks ?? {})) {
    webhooks.set(code, compile("webhooks", code, "post", "requestBody", ...json));
  }
}

const judged = { requests: 0, answers: 0, webhooks: 0 };

function judge(kind, what, validate, text) {
  if (!validate) return;
  judged[kind] += 1;
  if (validate(JSON.parse(text || "{}"))) return;
  const faults = validate.errors.map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
  console.log(`${what}: ${faults.join("; ")}: ${text}`);
}

for (const line of readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean)) {
  const { by, method, path, body, status, answer, webhook } = JSON.parse(line);
  if (webhook) {
    const { eventCode } = JSON.parse(webhook).notificationItems[0].NotificationRequestItem;
    if (!webhooks.has(eventCode)) console.log(`webhook ${eventCode}: not in the document`);
    judge("webhooks", `webhook ${eventCode}`, webhooks.get(eventCode), webhook);
    continue;
  }
  if (by === "browser") continue;
  const operation = operations.find((known) => known.method === method && known.fits.test(path));
  if (!operation) {
    console.log(`${method} ${path}: not in the document`);
    continue;
  }
  judge("requests", `${method} ${path}`, operation.request, body);
  judge("answers", `${method} ${path} answered ${status}`, operation.answers.get(String(status)), answer);
}
console.log(JSON.stringify(judged));
