import { printable, type Terminal, wrapped } from "./terminal.ts";

/** Parsed JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** OTLP/JSON without brackets: attributes as `name = value`, the rest as `name: value`, each indented below its parent. */
export function* otlpLines(value: Json, terminal: Terminal, depth = 0): Generator<string> {
  if (typeof value !== "object" || value === null || isList(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (isList(inner)) {
      if (name === "attributes") yield* attributes(inner, depth, terminal);
      else
        for (const item of inner) {
          if (isGroup(item)) {
            yield* line(depth, SINGULAR[name] ?? name, terminal);
            yield* otlpLines(item, terminal, depth + 1);
          } else yield* line(depth, `${name}: ${text(item)}`, terminal);
        }
    } else if (isGroup(inner)) {
      if (Object.keys(inner).length === 0) continue;
      yield* line(depth, name, terminal);
      yield* otlpLines(inner, terminal, depth + 1);
    } else yield* line(depth, `${name}: ${text(inner)}`, terminal);
  }
}

// --- internal ---

const SINGULAR: Readonly<Record<string, string>> = {
  resourceSpans: "resource and its spans",
  resourceMetrics: "resource and its metrics",
  scopeSpans: "spans",
  scopeMetrics: "metrics",
  spans: "span",
  metrics: "metric",
  events: "event",
  links: "link",
  dataPoints: "point",
};

function* attributes(list: readonly Json[], depth: number, terminal: Terminal): Generator<string> {
  for (const attribute of list) {
    if (!isGroup(attribute)) continue;
    yield* line(depth, `${text(attribute["key"] ?? null)} = ${valueIn(attribute["value"] ?? null)}`, terminal);
  }
}

/** `{"stringValue":"a"}` → `a`. */
function valueIn(value: Json): string {
  if (!isGroup(value)) return text(value);
  const [inner] = Object.values(value);
  if (inner === undefined) return "";
  if (!isGroup(inner)) return text(inner);
  const list = inner["values"];
  return list !== undefined && isList(list) ? list.map(valueIn).join(", ") : text(inner);
}

const text = (value: Json): string => printable(typeof value === "string" ? value : JSON.stringify(value));
export const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isGroup = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !isList(value);

const INDENT = 2;

const line = (depth: number, content: string, terminal: Terminal): Generator<string> =>
  wrapped({ text: " ".repeat(depth * INDENT) }, content, terminal);
