// Judges recorded exchanges with a provider by the types of its official library.
//
//   node judge.mjs PROVIDER RECORDING     faults, numbers of shapes and the calls that occurred, as JSON
//   node judge.mjs PROVIDER --fields      the library, then every parameter, answer and webhook field, one a line
//
// MODULES names the folder that has the library and TypeScript in its node_modules. A recording has one exchange a line:
// {"by","method","path","query","body","status","answer"}, or {"webhook"} for the body of a delivery. One that has a
// "plant" was changed on purpose: its faults say so, and it counts for nothing else.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { providers } from './calls.mjs';

const modules = process.env.MODULES;
const ts = createRequire(path.join(modules, 'package.json'))('typescript');
const [name, input] = process.argv.slice(2);
const provider = providers[name];

// ---- types ----

/** The types behind these expressions, by expression. */
function typesOf(expressions) {
  const file = path.join(modules, `wires-${name}.ts`);
  const aliases = expressions.map((expression, number) => `export type T${number} = ${expression};`);
  const source = [provider.imports, ...aliases].join('\n');
  const options = {
    strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, types: [],
    module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (wanted, ...rest) => (wanted === file
    ? ts.createSourceFile(file, source, options.target) : getSourceFile.call(host, wanted, ...rest));
  host.fileExists = (wanted) => wanted === file || fileExists.call(host, wanted);
  host.readFile = (wanted) => (wanted === file ? source : readFile.call(host, wanted));
  const program = ts.createProgram([file], options, host);
  const root = program.getSourceFile(file);
  const broken = program.getSemanticDiagnostics(root).concat(program.getSyntacticDiagnostics(root));
  if (broken.length > 0) {
    const where = (fault) => source.slice(fault.start, fault.start + fault.length);
    const messages = broken.map((fault) => `${where(fault)}: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`);
    throw new Error(`types that the library does not have:\n${[...new Set(messages)].join('\n')}`);
  }
  const checker = program.getTypeChecker();
  const declared = checker.getExportsOfModule(checker.getSymbolAtLocation(root));
  const byName = new Map(declared.map((symbol) => [symbol.name, checker.getDeclaredTypeOfSymbol(symbol)]));
  return { checker, types: new Map(expressions.map((expression, number) => [expression, byName.get(`T${number}`)])) };
}

const is = (type, flag) => (type.flags & flag) !== 0;
const { TypeFlags, SymbolFlags } = ts;

/** Words the library lets through because they may come later; here only known ones pass. */
const isAnyOtherWord = (type) => type.isIntersection() && type.types.some((part) => is(part, TypeFlags.String));
const isDecimal = (type) => /^Decimal(Impl)?$/.test(type.symbol?.name ?? '');
/** A time, which the library reads out of a word and writes as one. */
const isTime = (type) => type.symbol?.name === 'Date';

class Judge {
  /** `note` is called with every field that is judged, and with its value where the library lists the values. */
  constructor(checker, { form, camel }, note = () => {}) {
    this.checker = checker;
    this.form = form;
    this.camel = camel;
    this.note = note;
  }

  members(type) {
    if (!type.isUnion()) return [type];
    return type.types.filter((member) => !isAnyOtherWord(member));
  }

  properties(type) {
    const known = new Map();
    for (const symbol of this.checker.getPropertiesOfType(type)) {
      const of = this.checker.getTypeOfSymbol(symbol);
      if (of.getCallSignatures().length === 0) {
        known.set(symbol.name, { type: of, isRequired: !(symbol.flags & SymbolFlags.Optional) });
      }
    }
    return known;
  }

  /** What is wrong with a value, as [field, problem] pairs. */
  faults(value, type, at = '') {
    const members = this.members(type);
    const fits = (flag) => members.some((member) => is(member, flag));
    if (fits(TypeFlags.Any | TypeFlags.Unknown | TypeFlags.NonPrimitive)) return [];
    const wrong = (found) => [[at, `${found} where the library has ${this.name(type)}`]];
    if (value === null) return fits(TypeFlags.Null) ? [] : wrong('null');
    switch (typeof value) {
      case 'string':
        if (members.some((member) => member.isStringLiteral() && member.value === value)) this.note(at, value);
        return this.word(value, members) ? [] : wrong(JSON.stringify(value));
      case 'number': {
        const isKnown = members.some((m) => (m.isNumberLiteral() ? m.value === value : is(m, TypeFlags.Number | TypeFlags.BigInt)));
        return isKnown ? [] : wrong(`the number ${value}`);
      }
      case 'boolean': {
        const isKnown = members.some((m) => is(m, TypeFlags.BooleanLiteral) && m.intrinsicName === String(value))
          || fits(TypeFlags.Boolean);
        return isKnown ? [] : wrong(`${value}`);
      }
      default:
    }
    const objects = members.filter((member) => is(member, TypeFlags.Object | TypeFlags.Intersection) && !isDecimal(member));
    const lists = objects.filter((member) => this.checker.isArrayType(member));
    if (Array.isArray(value)) {
      if (lists.length === 0) return wrong('a list');
      const [item] = this.checker.getTypeArguments(lists[0]);
      return value.flatMap((each, place) => this.faults(each, item, `${at}[${place}]`));
    }
    const records = objects.filter((member) => !lists.includes(member));
    if (records.length === 0) return wrong('an object');
    const sameKind = records.filter((record) => this.agrees(value, record));
    if (sameKind.length === 0) return wrong(`an object of another kind (${value.object ?? value.type ?? Object.keys(value).join(', ')})`);
    const judged = sameKind.slice(0, 8).map((record) => this.fieldFaults(value, record, at));
    return judged.reduce((least, other) => (other.length < least.length ? other : least));
  }

  word(value, members) {
    return members.some((member) => {
      if (member.isStringLiteral()) return member.value === value;
      if (is(member, TypeFlags.String | TypeFlags.TemplateLiteral) || isDecimal(member)) return true;
      if (isTime(member)) return /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/.test(value);
      if (!this.form) return false;
      // A form has no types: what is written has to be what the library would have written.
      if (is(member, TypeFlags.Number | TypeFlags.BigInt)) return /^-?\d+$/.test(value);
      if (is(member, TypeFlags.BooleanLiteral)) return member.intrinsicName === value;
      return false;
    });
  }

  /** False if a field that tells kinds apart says that the value is of another kind. */
  agrees(value, record) {
    for (const [field, { type }] of this.properties(record)) {
      const given = value[field];
      if (type.isStringLiteral() && typeof given === 'string' && given !== type.value) return false;
    }
    return true;
  }

  fieldFaults(value, record, at) {
    const known = this.properties(record);
    // `[k: string]: unknown` beside named fields is room for what may come later; here only known names pass.
    const isRoom = (info) => known.size > 0 && is(info.type, TypeFlags.Any | TypeFlags.Unknown);
    const anyName = this.checker.getIndexInfosOfType(record)
      .find((info) => is(info.keyType, TypeFlags.String) && !isRoom(info));
    const faults = [];
    for (const [given, inner] of Object.entries(value)) {
      const field = this.camel ? given.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()) : given;
      const place = at === '' ? given : `${at}.${given}`;
      const expected = known.get(field)?.type ?? anyName?.type;
      this.note(known.has(field) ? place : `${at}.*`);
      if (expected === undefined) faults.push([place, `unknown to the library's ${this.name(record)}`]);
      else faults.push(...this.faults(inner, expected, place));
    }
    for (const [field, { isRequired }] of known) {
      if (isRequired && !(field in value)) {
        faults.push([at === '' ? field : `${at}.${field}`, `missing; the library's ${this.name(record)} requires it`]);
      }
    }
    return faults;
  }

  name(type) {
    const text = this.checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
      .replaceAll(/ \| \(?string & (\{\}|Record<never, never>)\)?/g, '');
    return text.length > 160 ? `${text.slice(0, 160)}…` : text;
  }

  /** Every field under a type, with its words where there are few. */
  fields(type, at, depth, lines = []) {
    const members = this.members(type);
    const words = members.filter((member) => member.isStringLiteral()).map((member) => member.value).sort();
    if (words.length > 0) lines.push(`${at} = ${words.join(' | ')}`);
    for (const member of members.filter((each) => is(each, TypeFlags.Object) && !isDecimal(each) && !isTime(each))) {
      if (this.checker.isArrayType(member)) {
        this.fields(this.checker.getTypeArguments(member)[0], `${at}[]`, depth, lines);
      } else if (depth > 0) {
        for (const [field, { type: inner, isRequired }] of this.properties(member)) {
          const place = `${at}${at.endsWith(': ') ? '' : '.'}${field}`;
          lines.push(isRequired ? `${place} (required)` : place);
          this.fields(inner, place, depth - 1, lines);
        }
      }
    }
    return lines;
  }
}

// ---- recordings ----

/** `a[b][]=1&a[c]=2` as an object. */
function nested(text) {
  const root = {};
  for (const [given, value] of new URLSearchParams(text)) {
    const names = [given.split('[')[0], ...[...given.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1])];
    let place = root;
    names.forEach((part, index) => {
      const field = part === '' ? String(Object.keys(place).length) : part;
      if (index === names.length - 1) place[field] = value;
      else place = place[field] ??= {};
    });
  }
  const listed = (value) => {
    if (typeof value !== 'object') return value;
    const fields = Object.keys(value);
    const inner = fields.map((field) => listed(value[field]));
    const isList = fields.length > 0 && fields.every((field, index) => field === String(index));
    return isList ? inner : Object.fromEntries(fields.map((field, index) => [field, inner[index]]));
  };
  return listed(root);
}

/** The answer fields whose values are listed with what was judged. */
const SAYS_WHERE_IT_STANDS = /(^|\.)(status|state|pending_reason)$/;

/** Names and kinds of everything inside, so that two values that differ in their contents alone are one shape. */
function shape(value) {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shape))].sort().join()}]`;
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return `{${Object.keys(value).sort().map((field) => `${field}:${shape(value[field])}`).join()}}`;
}

const json = (text) => (text === '' ? {} : JSON.parse(text));

function callOf(method, target) {
  const fits = (call) => call.method === method
    && new RegExp(`^${call.path.replaceAll('/', '\\/').replaceAll('*', '[^/]+')}$`).test(target);
  const exact = provider.calls.filter(fits);
  return exact.find((call) => !call.path.includes('*')) ?? exact[0];
}

function judgeRecording(lines) {
  const expressions = new Set([provider.error, ...provider.calls.flatMap(({ params, answer }) => [params, answer])]);
  for (const { webhook } of lines) if (webhook) expressions.add(provider.webhook(json(webhook)));
  expressions.delete(null);
  expressions.delete(undefined);
  const { checker, types } = typesOf([...expressions]);
  const seen = { request: new Set(), answer: new Set(), webhook: new Set() };
  const calls = { sent: new Set(), answered: new Set(), webhooks: new Set() };
  const judged = new Map();
  const faults = new Map();
  const report = (plant, side, call, field, problem) => {
    faults.set(JSON.stringify([plant, side, call, field, problem]), { plant, side, call, field, problem });
  };
  for (const line of lines) {
    const { plant } = line;
    const look = (side, call, value, expression, spelling) => {
      if (plant === undefined) seen[side].add(`${call} ${shape(value)}`);
      const note = (at, word) => {
        const field = at.replaceAll(/\[\d+\]/g, '[]');
        if (plant !== undefined || side === 'webhook' || (side === 'answer' && !(word && SAYS_WHERE_IT_STANDS.test(field)))) return;
        const words = judged.get(`${call} ${side} ${field}`) ?? new Set();
        judged.set(`${call} ${side} ${field}`, word === undefined ? words : words.add(word));
      };
      for (const [field, problem] of new Judge(checker, spelling, note).faults(value, types.get(expression))) {
        report(plant, side, call, field.replaceAll(/\[\d+\]/g, '[]'), problem);
      }
    };
    if (line.webhook) {
      const event = json(line.webhook);
      const kind = provider.kind?.(event) ?? event.category ?? event.type;
      if (plant === undefined) calls.webhooks.add(kind);
      look('webhook', kind, event, provider.webhook(event), {});
      continue;
    }
    const call = callOf(line.method, line.path);
    if (call === undefined) {
      report(plant, 'request', `${line.method} ${line.path}`, '', 'no such call in the table of calls');
      continue;
    }
    if (line.by === 'tollgate') {
      const isQuery = line.method === 'GET' || line.method === 'DELETE';
      const form = provider.form === true || isQuery;
      const params = form ? nested(isQuery ? line.query : line.body) : json(line.body);
      calls.sent.add(call.operation);
      if (call.params) look('request', call.operation, params, call.params, { form, camel: call.camel });
      else for (const field of Object.keys(params)) report(plant, 'request', call.operation, field, 'the call takes no parameters');
    }
    if (line.by === 'browser' || line.answer === '') continue;
    calls.answered.add(call.operation);
    const isRefusal = line.status >= 400;
    look('answer', isRefusal ? `${call.operation} ${line.status}` : call.operation, json(line.answer),
      isRefusal ? provider.error : call.answer, {});
  }
  return {
    package: library(),
    shapes: { requests: seen.request.size, answers: seen.answer.size, webhooks: seen.webhook.size },
    sent: [...calls.sent].sort(),
    answered: [...calls.answered].sort(),
    webhooks: [...calls.webhooks].sort(),
    judged: [...judged].map(([place, words]) => (words.size === 0 ? place : `${place} = ${[...words].sort().join(' | ')}`)).sort(),
    faults: [...faults.values()],
  };
}

/** The library's name and version. */
function library() {
  const file = path.join(modules, 'node_modules', provider.package, 'package.json');
  return `${provider.package} ${JSON.parse(fs.readFileSync(file, 'utf8')).version}`;
}

function printFields() {
  process.stdout.write(`${library()}\n`);
  const expressions = new Set(provider.calls.flatMap(({ params, answer }) => [params, answer]).filter(Boolean));
  const { webhooks } = provider;
  for (const expression of Object.values(webhooks)) expressions.add(expression);
  const { checker, types } = typesOf([...expressions]);
  const print = (lines) => process.stdout.write(`${[...new Set(lines)].join('\n')}\n`);
  for (const { operation, params, answer } of provider.calls) {
    const judge = new Judge(checker, {});
    const lines = [
      ...(params ? judge.fields(types.get(params), `${operation} parameter: `, 4) : []),
      ...judge.fields(types.get(answer), `${operation} answer: `, 3),
    ];
    print(lines);
  }
  for (const [kind, expression] of Object.entries(webhooks)) {
    print(new Judge(checker, {}).fields(types.get(expression), `webhook ${kind}: `, 2));
  }
}

if (input === '--fields') {
  printFields();
} else {
  const lines = fs.readFileSync(input, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  process.stdout.write(`${JSON.stringify(judgeRecording(lines))}\n`);
}
