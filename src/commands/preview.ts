import type { LoadedConfig } from "../config/load.ts";
import { shownValue } from "../config/redact.ts";
import { SETTINGS } from "../config/settings.ts";
import { whyUnsent } from "../config/unsent.ts";
import { type Context, UserError } from "../context.ts";
import type { Drain } from "../drain/context.ts";
import { drainDeps } from "../drain/from-process.ts";
import { type Preview, type PreviewedRequest, previewDelivery } from "../drain/preview.ts";
import { drain as runDrain } from "../pipeline.ts";
import { namedSession } from "../sessions/find-session.ts";
import { printLines } from "../text/ascii.ts";
import { plural } from "../text/figures.ts";
import { flow, printable, type Terminal, terminalOf, wrapped } from "../text/terminal.ts";

export interface PreviewOptions {
  /** The bodies themselves, OTLP/JSON, one a line. */
  readonly json: boolean;
}

/**
 * `openhook-otel preview`: what the next drain would send, to the byte. What waits in the inbox is converted first, as a
 * drain does; nothing is sent.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it everything that waits, counters as well
 * @returns exit code: 0
 * @throws UserError when there is no such session, or another drain is at work
 */
export async function preview(session: string | undefined, options: PreviewOptions, context: Context): Promise<number> {
  const said: string[] = [];
  let found: Preview | undefined;
  const deps = await drainDeps(context, (line) => said.push(line));
  const look = async (work: Drain): Promise<void> => {
    found = await previewDelivery(work, session === undefined ? undefined : namedSession(work.db, session).id);
  };
  const report = await runDrain(deps, { isEager: true, deliver: look });
  if (report === undefined || found === undefined) {
    throw new UserError("E_BUSY", "another drain is at work and sends what waits; try again when it is done", 1);
  }
  for (const line of said) context.stderr.write(`${printable(line)}\n`);
  if (options.json) for (const { body } of found.requests) context.stdout.write(`${body}\n`);
  else printLines(context, inWords(found, session, deps.loaded, terminalOf(context)));
  return 0;
}

// --- internal ---

function* inWords(
  { requests, settings }: Preview,
  session: string | undefined,
  loaded: LoadedConfig,
  terminal: Terminal,
): Generator<string> {
  if (requests.length === 0) {
    const what = session === undefined ? "nothing waits" : "nothing of this session waits";
    yield* wrapped({ text: "" }, `${what}: all that was collected has been sent, or no turn has ended yet`, terminal);
    return;
  }
  for (const [i, request] of requests.entries()) {
    if (i > 0) yield "";
    yield* head(request, `request ${i + 1} of ${requests.length}`, settings, loaded, terminal);
    yield* lines(JSON.parse(request.body) as Json, 0, terminal);
  }
}

function* head(
  { signal, body }: PreviewedRequest,
  title: string,
  settings: Preview["settings"],
  loaded: LoadedConfig,
  terminal: Terminal,
): Generator<string> {
  const to = settings[signal];
  yield* flow(
    [
      [{ text: title, style: "bold" }],
      [{ text: signal }],
      [{ text: plural(Buffer.byteLength(body), "byte") }],
      [{ text: to === undefined ? whyItStays(signal, loaded) : `to ${printable(shownUrl(to.url))}` }],
      ...Object.keys(to?.headers ?? {}).map((name) => [{ text: `header ${printable(name)}: ***` }]),
    ],
    terminal,
  );
}

function whyItStays(signal: PreviewedRequest["signal"], loaded: LoadedConfig): string {
  const why = whyUnsent(signal, loaded);
  return why === undefined ? "no destination is set: it would stay here" : `it would stay here, ${why}`;
}

const ENDPOINT = SETTINGS.find(({ key }) => key === "otlp.endpoint");
const shownUrl = (url: string): string => (ENDPOINT === undefined ? "" : shownValue(ENDPOINT, url));

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** OTLP/JSON without its brackets: attributes as `name = value`, the rest as `name: value`, each below what it is of. */
function* lines(value: Json, depth: number, terminal: Terminal): Generator<string> {
  if (typeof value !== "object" || value === null || isList(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (isList(inner)) {
      if (name === "attributes") yield* attributes(inner, depth, terminal);
      else
        for (const item of inner) {
          if (isGroup(item)) {
            yield* line(depth, SINGULAR[name] ?? name, terminal);
            yield* lines(item, depth + 1, terminal);
          } else yield* line(depth, `${name}: ${text(item)}`, terminal);
        }
    } else if (isGroup(inner)) {
      if (Object.keys(inner).length === 0) continue;
      yield* line(depth, name, terminal);
      yield* lines(inner, depth + 1, terminal);
    } else yield* line(depth, `${name}: ${text(inner)}`, terminal);
  }
}

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
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isGroup = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !isList(value);

const INDENT = 2;

const line = (depth: number, content: string, terminal: Terminal): Generator<string> =>
  wrapped({ text: " ".repeat(depth * INDENT) }, content, terminal);
