// Shows an OpenAPI document and sends requests from it. Text from the document is only ever set as text.
"use strict";

const METHODS = ["get", "head", "post", "put", "patch", "delete", "options", "trace"];
const page = {document: null, shown: []};

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

function resolved(schema) {
  const name = schema?.$ref?.replace("#/components/schemas/", "");
  return name ? page.document.components.schemas[name] ?? {} : schema ?? {};
}

// What a schema is called in a line: "list of Todo", "text or null".
function inWords(schema) {
  if (!schema) return "anything";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(inWords).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  if (schema.type === "array") return `list of ${inWords(schema.items)}`;
  const types = [schema.type ?? "anything"].flat().join(" or ");
  return schema.format ? `${types} (${schema.format})` : types;
}

// A value that fits a schema, to begin with.
function sample(schema, depth = 0) {
  const found = resolved(schema);
  if (found.examples?.length) return found.examples[0];
  if ("default" in found) return found.default;
  if (found.enum) return found.enum[0];
  const choices = found.anyOf ?? found.oneOf ?? found.allOf;
  if (choices) return sample(choices[0], depth);
  if (depth > 4) return null;
  if (found.type === "array") return found.items ? [sample(found.items, depth + 1)] : [];
  if (found.type === "object") {
    const pairs = Object.entries(found.properties ?? {});
    return Object.fromEntries(pairs.map(([name, inner]) => [name, sample(inner, depth + 1)]));
  }
  return {string: "", integer: 0, number: 0, boolean: false}[found.type] ?? null;
}

function firstExample(content) {
  const named = Object.values(content.examples ?? {})[0];
  return named ? named.value : sample(content.schema);
}

const pretty = (value) => JSON.stringify(value, null, 2);

function table(caption, heads, rows) {
  const head = make("tr", {}, ...heads.map((text) => make("th", {scope: "col", textContent: text})));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((text) => make("td", {textContent: text}))));
  return make("div", {className: "wide"}, make("h3", {textContent: caption}),
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

function parameterTable(parameters) {
  const rows = parameters.map((one) => [
    one.name, one.in, inWords(one.schema) + (one.required ? ", required" : ""), one.description ?? ""]);
  return rows.length ? table("Parameters", ["Name", "Where", "What", "About"], rows) : null;
}

function answerTable(responses) {
  const rows = Object.entries(responses ?? {}).map(([status, one]) => {
    const kinds = Object.entries(one.content ?? {}).map(([kind, content]) => `${kind}: ${inWords(content.schema)}`);
    return [status, one.description ?? "", kinds.join("\n")];
  });
  return table("Answers", ["Status", "When", "Body"], rows);
}

function control(operation, parameter) {
  const id = `${operation.operationId}-${parameter.in}-${parameter.name}`;
  const input = make("input", {id, name: parameter.name, required: Boolean(parameter.required), autocomplete: "off"});
  input.dataset.in = parameter.in;
  return make("div", {className: "row"}, make("label", {htmlFor: id, textContent: parameter.name}), input);
}

function requestForm(path, method, operation, parameters) {
  const content = Object.entries(operation.requestBody?.content ?? {})[0];
  const fields = make("fieldset", {}, make("legend", {textContent: "Try it"}),
    ...parameters.map((parameter) => control(operation, parameter)));
  if (content) {
    const id = `${operation.operationId}-body`;
    const text = pretty(firstExample(content[1]));
    fields.append(make("label", {htmlFor: id, textContent: `Body, ${content[0]}`}),
      make("textarea", {id, name: "body", rows: Math.min(16, text.split("\n").length + 1), value: text, spellcheck: false}));
  }
  const button = make("button", {textContent: "Send"});
  const result = make("div", {className: "result"});
  result.setAttribute("role", "status");
  fields.append(make("p", {}, button), result);
  const form = make("form", {}, fields);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await send(path, method, form, content?.[0], result);
    } finally {
      button.disabled = false;
    }
  });
  return form;
}

async function send(path, method, form, contentType, result) {
  const query = new URLSearchParams();
  const headers = {};
  let url = path;
  for (const input of form.querySelectorAll("input")) {
    if (input.dataset.in === "path") url = url.replace(`{${input.name}}`, encodeURIComponent(input.value));
    if (input.value === "") continue;
    if (input.dataset.in === "query") query.append(input.name, input.value);
    if (input.dataset.in === "header") headers[input.name] = input.value;
  }
  addAccess(headers, query);
  const options = {method: method.toUpperCase(), headers};
  const body = form.querySelector("textarea");
  if (body) Object.assign(options, {body: body.value, headers: {...headers, "Content-Type": contentType}});
  const base = (page.document.servers?.[0]?.url ?? "").replace(/\/$/, "");
  const asked = base + url + (query.size ? `?${query}` : "");
  const started = performance.now();
  try {
    const response = await fetch(asked, options);
    const text = await response.text();
    const spent = `${(performance.now() - started).toFixed(0)} ms`;
    show(result, `${options.method} ${asked}: ${response.status} ${response.statusText}, ${spent}`, response.headers, text);
  } catch (error) {
    show(result, `${options.method} ${asked}: ${error.message}`, null, "");
  }
}

function show(result, line, headers, text) {
  let body = text;
  try {
    body = pretty(JSON.parse(text));
  } catch { /* no JSON: as it is */ }
  const lines = headers ? [...headers].map(([name, value]) => `${name}: ${value}`).join("\n") : "";
  result.replaceChildren(make("p", {}, make("strong", {textContent: line})),
    ...(lines ? [make("pre", {textContent: lines})] : []), ...(body ? [make("pre", {textContent: body})] : []));
}

function addAccess(headers, query) {
  for (const input of document.querySelectorAll("#access input")) {
    const scheme = page.document.components.securitySchemes[input.name];
    if (!input.value) continue;
    if (scheme.type === "http") headers.Authorization = scheme.scheme === "basic" ? `Basic ${btoa(input.value)}` : `Bearer ${input.value}`;
    else if (scheme.in === "header") headers[scheme.name] = input.value;
    else if (scheme.in === "query") query.append(scheme.name, input.value);
  }
}

function showAccess(schemes) {
  const form = document.getElementById("access");
  for (const [name, scheme] of Object.entries(schemes ?? {})) {
    const id = `access-${name}`;
    const words = scheme.description ?? (scheme.type === "http" ? scheme.scheme : `${scheme.name ?? ""} in ${scheme.in ?? scheme.type}`);
    form.append(make("div", {className: "row"}, make("label", {htmlFor: id, textContent: `${name} (${words})`}),
      make("input", {id, name, type: "password", autocomplete: "off"})));
    form.hidden = false;
  }
  form.addEventListener("submit", (event) => event.preventDefault());
}

function operationBox(path, method, operation, shared) {
  const parameters = [...shared, ...(operation.parameters ?? [])];
  const marks = [...(operation.deprecated ? ["deprecated"] : []), ...(operation.security ?? []).flatMap(Object.keys)];
  const head = make("summary", {},
    make("span", {className: `method ${method}`, textContent: method.toUpperCase()}),
    make("span", {className: "path", textContent: path}),
    make("span", {textContent: operation.summary ?? ""}),
    ...marks.map((text) => make("span", {className: "mark", textContent: text})));
  const box = make("details", {className: `operation${operation.deprecated ? " deprecated" : ""}`, id: operation.operationId}, head);
  box.dataset.words = [path, method, operation.summary, operation.description, ...(operation.tags ?? [])].join(" ").toLowerCase();
  box.addEventListener("toggle", () => {
    if (!box.open || box.children.length > 1) return;
    const about = operation.description ? make("p", {textContent: operation.description}) : null;
    box.append(make("div", {className: "inside"}, about, parameterTable(parameters), answerTable(operation.responses),
      requestForm(path, method, operation, parameters)));
  });
  page.shown.push(box);
  return box;
}

function showOperations() {
  const groups = new Map((page.document.tags ?? []).map((tag) => [tag.name, {about: tag.description, boxes: []}]));
  for (const [path, item] of Object.entries(page.document.paths ?? {})) {
    for (const method of METHODS.filter((name) => item[name])) {
      const tag = item[method].tags?.[0] ?? "";
      if (!groups.has(tag)) groups.set(tag, {boxes: []});
      groups.get(tag).boxes.push(operationBox(path, method, item[method], item.parameters ?? []));
    }
  }
  const sections = [...groups].filter(([, group]) => group.boxes.length).map(([tag, group]) => make("section", {},
    make("h2", {textContent: tag || "Operations"}),
    group.about ? make("p", {className: "quiet", textContent: group.about}) : null, ...group.boxes));
  document.getElementById("operations").replaceChildren(...sections);
}

function showModels(schemas) {
  const section = document.getElementById("models");
  for (const [name, schema] of Object.entries(schemas ?? {})) {
    section.hidden = false;
    const box = make("details", {className: "operation", id: `model-${name}`},
      make("summary", {}, make("span", {className: "path", textContent: name})),
      make("div", {className: "inside"}, make("pre", {textContent: pretty(schema)})));
    section.append(box);
  }
}

function filter() {
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const box of page.shown) box.hidden = !words.every((word) => box.dataset.words.includes(word));
  for (const section of document.querySelectorAll("main section")) {
    section.hidden = ![...section.querySelectorAll("details")].some((box) => !box.hidden);
  }
  const count = page.shown.filter((box) => !box.hidden).length;
  document.getElementById("count").textContent = `${count} of ${page.shown.length} operations`;
}

function openNamed() {
  const box = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (box instanceof HTMLDetailsElement) {
    box.open = true;
    box.scrollIntoView();
  }
}

async function start() {
  const response = await fetch(document.documentElement.dataset.document);
  if (!response.ok) throw new Error(`the document is answered with ${response.status}`);
  page.document = await response.json();
  document.getElementById("version").textContent = `Version ${page.document.info.version}`;
  document.getElementById("description").textContent = page.document.info.description ?? "";
  showAccess(page.document.components?.securitySchemes);
  showOperations();
  showModels(page.document.components?.schemas);
  document.getElementById("filter").addEventListener("input", filter);
  filter();
  openNamed();
  window.addEventListener("hashchange", openNamed);
}

start().catch((error) => {
  document.getElementById("count").textContent = `The document cannot be shown: ${error.message}`;
});
