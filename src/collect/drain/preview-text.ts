import { whyUnsent } from "#config/config-state.ts";
import type { LoadedConfig } from "#config/load.ts";
import { shownValue } from "#config/redact.ts";
import { SETTINGS } from "#config/settings.ts";
import type { CaptureLevel } from "#core/model/capture.ts";
import { OTLP_SIGNALS, type OtlpSignal } from "#core/model/settings.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { EXPOSURE, type Exposure } from "#core/telemetry/attributes.ts";
import { OPENHOOK_SPAN_KIND, SESSION_ID } from "#core/telemetry/semconv.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { isList, type Json, otlpLines } from "#kit/text/otlp-json.ts";
import { flow, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { wordList } from "#kit/text/word-list.ts";
import type { Preview, PreviewedRequest } from "./preview.ts";

/** A preview for people, secrets masked: its summary, then the requests. @param session what the user named, if anything */
export function* previewLines(
  preview: Preview,
  session: string | undefined,
  loaded: LoadedConfig,
  terminal: Terminal,
): Generator<string> {
  const { requests, settings } = preview;
  yield* summaryLines(previewSummary(preview, loaded), session !== undefined, terminal);
  yield "";
  if (requests.length === 0) {
    const what = session === undefined ? "nothing is queued" : "nothing of this session is queued";
    const why = `everything has been sent, or no turn has ended yet; ${suggest("import --export")} sends imported sessions`;
    yield* wrapped({ text: "" }, `${what}: ${why}`, terminal);
    return;
  }
  for (const [i, request] of requests.entries()) {
    if (i > 0) yield "";
    yield* head(request, `request ${i + 1} of ${requests.length}`, settings, loaded, terminal);
    yield* otlpLines(JSON.parse(request.body) as Json, terminal);
  }
}

// --- internal ---

/** What a preview contains: numbers, and names of attributes without their values. */
interface PreviewSummary {
  readonly signals: Readonly<Record<OtlpSignal, SignalSummary>>;
  /** Spans by kind, e.g. `tool_call`. */
  readonly spans: ReadonlyMap<string, number>;
  readonly sessions: number;
  readonly metricPoints: number;
  readonly logRecords: number;
  readonly capture: CaptureLevel;
  /** Names of the attributes that are sent, sorted. */
  readonly content: readonly string[];
  readonly names: readonly string[];
  readonly user: readonly string[];
  /** Those that describe this machine, and those of the settings `attributes` and `resource.attributes`. */
  readonly other: readonly string[];
}

interface SignalSummary {
  /** Without credentials; `null` if the signal is not sent. */
  readonly url: string | null;
  /** Why it is not sent. */
  readonly unsent: string | null;
  readonly requests: number;
  /** Of the bodies as JSON, before compression. */
  readonly bytes: number;
}

function previewSummary({ requests, settings }: Preview, loaded: LoadedConfig): PreviewSummary {
  const found: Found = { keys: new Set(), spans: new Map(), sessions: new Set(), points: 0, logs: 0 };
  for (const { body } of requests) addValue("", JSON.parse(body) as Json, found);
  const { capture } = loaded.config;
  const keys = [...found.keys].sort();
  const revealing = (...kinds: readonly Kind[]) => keys.filter((key) => kinds.includes(kindOf(key)));
  const signalOf = (signal: OtlpSignal): SignalSummary => {
    const to = settings[signal];
    const bodies = requests.filter((request) => request.signal === signal).map(({ body }) => body);
    return {
      url: to === undefined ? null : shownUrl(to.url),
      unsent: to === undefined ? unsentText(signal, loaded) : null,
      requests: bodies.length,
      bytes: bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0),
    };
  };
  return {
    signals: { traces: signalOf("traces"), metrics: signalOf("metrics"), logs: signalOf("logs") },
    spans: found.spans,
    sessions: found.sessions.size,
    metricPoints: found.points,
    logRecords: found.logs,
    capture,
    content: revealing("content"),
    // Below that level, reduced attributes have only names that are built into the agents
    names: keepsNames(capture) ? revealing("name", "reduced") : revealing("name"),
    user: revealing("user"),
    other: revealing("other"),
  };
}

/** The summary for people. @param isOfSession whether the user named a session: its preview has no metrics */
export function* summaryLines(summary: PreviewSummary, isOfSession: boolean, terminal: Terminal): Generator<string> {
  const line = (label: string, text: string) =>
    wrapped({ text: label.padEnd(LABEL_COLUMNS), style: "dim" }, text, terminal);
  const listed = (names: readonly string[]) => (names.length === 0 ? "none" : names.map(printable).join(", "));

  yield* wrapped({ text: "" }, headline(summary, isOfSession), terminal);
  if (summary.spans.size > 0) yield* line("spans", kindsText(summary.spans));
  for (const signal of OTLP_SIGNALS) {
    if (signal === "metrics" && isOfSession) continue;
    // Most people want none
    if (signal === "logs" && summary.signals.logs.url === null && summary.logRecords === 0) continue;
    yield* line(signal, signalText(summary.signals[signal]));
  }
  yield* line("capture", `${summary.capture}: ${CAPTURE_TEXTS[summary.capture]}`);
  if (OTLP_SIGNALS.every((signal) => summary.signals[signal].requests === 0)) return;
  yield* line("content", listed(summary.content));
  yield* line("names", listed(summary.names));
  yield* line("who you are", listed(summary.user));
  if (summary.other.length > 0) yield* line("other", listed(summary.other));
}

/** Why a signal is not sent. */
const unsentText = (signal: OtlpSignal, loaded: LoadedConfig): string =>
  whyUnsent(signal, loaded) ?? "not sent: no endpoint is set";

/** An address without credentials. */
const shownUrl = (url: string): string => (ENDPOINT === undefined ? "" : shownValue(ENDPOINT, url));

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
      [
        {
          text: to === undefined ? unsentText(signal, loaded) : `to ${printable(shownUrl(to.url))}`,
        },
      ],
      ...Object.keys(to?.headers ?? {}).map((name) => [{ text: `header ${printable(name)}: ***` }]),
    ],
    terminal,
  );
}

interface Found {
  readonly keys: Set<string>;
  readonly spans: Map<string, number>;
  readonly sessions: Set<string>;
  points: number;
  logs: number;
}

type Kind = Exposure | "user" | "other";

const ENDPOINT = SETTINGS.find(({ key }) => key === "otlp.endpoint");
const LABEL_COLUMNS = 14;

const CAPTURE_TEXTS: Readonly<Record<CaptureLevel, string>> = {
  none: "ids, times and figures; no names and no content",
  metadata: "ids, times, figures and names; no prompts, answers, arguments or results",
  redacted: "also prompts, answers, arguments and results, without secrets",
  full: "also prompts, answers, arguments and results, unchanged",
};

/** In the order in which they are shown. Other kinds follow. */
const KIND_TEXTS: Readonly<Record<string, readonly [string, string]>> = {
  session: ["session", "sessions"],
  turn: ["turn", "turns"],
  model_call: ["model call", "model calls"],
  tool_call: ["tool call", "tool calls"],
  subagent: ["subagent", "subagents"],
  late_part: ["late part of a turn", "late parts of turns"],
};

const kindOf = (key: string): Kind =>
  (EXPOSURE as Readonly<Record<string, Exposure>>)[key] ?? (key.startsWith("user.") ? "user" : "other");

const total = (spans: ReadonlyMap<string, number>): number => [...spans.values()].reduce((a, b) => a + b, 0);

/** Walks a request. @param name of the member that has the value */
function addValue(name: string, value: Json, found: Found): void {
  if (typeof value !== "object" || value === null) return;
  if (!isList(value)) {
    for (const [inner, of] of Object.entries(value)) addValue(inner, of, found);
    return;
  }
  if (name === "attributes") {
    for (const { key } of value as unknown as readonly Attribute[]) found.keys.add(key);
    return;
  }
  if (name === "dataPoints") found.points += value.length;
  if (name === "logRecords") found.logs += value.length;
  for (const item of value) {
    if (name === "spans") addSpan(item, found);
    addValue("", item, found);
  }
}

function addSpan(span: Json, { spans, sessions }: Found): void {
  const { attributes = [] } = span as unknown as { readonly attributes?: readonly Attribute[] };
  const textAt = (name: string) => attributes.find(({ key }) => key === name)?.value.stringValue;
  const kind = textAt(OPENHOOK_SPAN_KIND) ?? "other";
  spans.set(kind, (spans.get(kind) ?? 0) + 1);
  const session = textAt(SESSION_ID);
  if (session !== undefined) sessions.add(session);
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

function headline(
  { spans, sessions, metricPoints, logRecords, signals }: PreviewSummary,
  isOfSession: boolean,
): string {
  const amounts: Readonly<Record<OtlpSignal, string>> = {
    traces: spans.size === 0 ? "" : `${plural(total(spans), "span")} of ${plural(sessions, "session")}`,
    metrics: metricPoints === 0 ? "" : plural(metricPoints, "metric point"),
    logs: logRecords === 0 ? "" : plural(logRecords, "log record"),
  };
  const ofThose = (isSent: boolean): string =>
    wordList(
      OTLP_SIGNALS.filter((signal) => (signals[signal].url !== null) === isSent && amounts[signal] !== "").map(
        (signal) => amounts[signal],
      ),
    );
  const [sent, kept] = [ofThose(true), ofThose(false)];
  const also = isOfSession ? "; counters are sums over all sessions and not shown" : "";
  if (sent === "" && kept === "") return `The next drain would send nothing${also}`;
  if (sent === "") return `Export is off: the next drain would send nothing; queued: ${kept}${also}`;
  return `The next drain would send ${sent}${kept === "" ? "" : `, but not ${kept}`}${also}`;
}

function signalText({ url, unsent, requests, bytes }: SignalSummary): string {
  const amount = requests === 0 ? "nothing" : `${plural(requests, "request")}, ${plural(bytes, "byte")} of JSON`;
  return url === null ? String(unsent) : `${amount}, to ${printable(url)}`;
}

function kindsText(spans: ReadonlyMap<string, number>): string {
  const kinds = [...new Set([...Object.keys(KIND_TEXTS), ...spans.keys()])];
  return kinds
    .flatMap((kind) => {
      const n = spans.get(kind);
      return n === undefined ? [] : [plural(n, ...(KIND_TEXTS[kind] ?? ([printable(kind), printable(kind)] as const)))];
    })
    .join(", ");
}
