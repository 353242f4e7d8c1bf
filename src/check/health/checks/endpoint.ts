import { readFile } from "node:fs/promises";
import { headerReader } from "#collect/bridge/read-headers.ts";
import { describeSource, type Source } from "#config/layer.ts";
import { otlpSettings } from "#config/otlp.ts";
import { OTLP_SIGNALS, type OtlpSettings, type OtlpSignal, type OtlpSignalSettings } from "#core/model/settings.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, plural } from "#kit/text/figures.ts";
import { isPlausibleDate } from "#kit/time.ts";
import { VERSION } from "#kit/version.ts";
import { nameOf, proxyFor } from "#send/network/proxy.ts";
import { type CertificateFact, certificatesIn, validity } from "#send/network/tls-files.ts";
import { type ProbeOptions, type ProbeResult, probe } from "#send/otlp/probe.lazy.ts";
import { credentialsSetting, hasProvidedHeaders } from "#send/otlp/provided-headers.ts";
import { isEndpointMissing, isRedirect, mayBeTooLarge } from "#send/otlp/tally.ts";
import type { Examined } from "../facts/examined.ts";
import type { Delivery } from "../facts/shape.ts";
import { type Finding, inArea } from "../finding.ts";

/** Checks with an empty export, and one of real size, whether the backend accepts what we send, and compares clocks. */
export async function* endpointFindings({ facts, loaded, context }: Examined): AsyncGenerator<Finding> {
  const { places, platform, arch, now } = context;
  const settings = otlpSettings(loaded.config, { version: VERSION, instanceId: "", os: platform, arch });
  const readHeaders = headerReader(places, platform, now);
  const bytes = Math.min(REAL_BYTES, settings.maxBytesPerRequest);
  const { temporality } = loaded.config.otlp.metrics;
  yield* certificateFindings(settings, now());
  const skews: number[] = [];
  for (const signal of OTLP_SIGNALS) {
    if (signal === "logs" && loaded.config.logs === "off") continue;
    const ofSignal = settings[signal];
    const delivery = facts.delivery[signal];
    const { endpoint, why_not_sent: why } = delivery;
    if (ofSignal === undefined || endpoint === null) {
      yield unsentFinding(signal, why ?? "not sent", loaded.ignoredEndpoint);
      continue;
    }
    const options = { version: VERSION, readHeaders, timeoutMs: Math.min(ofSignal.timeoutMs, PROBE_TIMEOUT_MS) };
    const beganMs = now();
    const answer = await probe(signal, ofSignal, options);
    const endedMs = now();
    const destination = { signal, endpoint, settings: ofSignal, delivery, options, bytes, temporality };
    yield* answerFindings(destination, answer, endedMs - beganMs);
    if (answer.dateMs === undefined) continue;
    // A date has whole seconds, so add half a second on average
    if (isPlausibleDate(answer.dateMs, endedMs)) skews.push(answer.dateMs + 500 - (beganMs + endedMs) / 2);
    else yield impossibleDate(endpoint, answer.dateMs);
  }
  if (settings.metrics?.temporality === "delta") yield deltaFinding(loaded.sources.get("otlp.metrics.temporality"));
  yield* clockFindings(skews);
}

/** Certificates in the settings that are not valid, or not for long. The empty export reports files that cannot be read. */
export async function* certificateFindings(settings: OtlpSettings, nowMs: number): AsyncGenerator<Finding> {
  const files = new Map<string, keyof typeof CERTIFICATE_REMEDIES>();
  for (const signal of OTLP_SIGNALS.map((name) => settings[name])) {
    if (signal?.url.startsWith("https:") !== true) continue;
    if (signal.clientCertificatePath !== undefined) files.set(signal.clientCertificatePath, "otlp.clientCertificate");
    if (signal.certificatePath !== undefined) files.set(signal.certificatePath, "otlp.certificate");
  }
  for (const [path, setting] of files) {
    const pem = await readFile(path, "utf8").catch(() => "");
    const all = certificatesIn(pem, nowMs);
    // Of several authorities the former ones may have ended; each certificate of a client's chain is needed
    const isNeeded = setting === "otlp.clientCertificate" || all.every(({ problem }) => problem !== undefined);
    const { remark, broken } = inArea("certificates");
    for (const certificate of all) {
      const { subject, problem, toMs } = certificate;
      const text = `${subject} in ${setting} (${JSON.stringify(path)})`;
      if (problem !== undefined && isNeeded) {
        yield broken(`${text} ${problem}: it is ${validity(certificate)}`, CERTIFICATE_REMEDIES[setting]);
      } else if (problem === undefined && endsSoon(certificate, nowMs)) {
        yield remark(
          `${text} ends in ${inWords(toMs - nowMs)}: it is ${validity(certificate)}`,
          CERTIFICATE_REMEDIES[setting],
        );
      }
    }
  }
}

// --- internal ---

const PROBE_TIMEOUT_MS = 2000;
/** About as much as 512 spans. */
const REAL_BYTES = 500_000;
const KEPT = "spans stay queued, and a later drain sends them";

/** Where one signal is sent, and how it is asked. */
interface Destination {
  readonly signal: OtlpSignal;
  /** Without secrets. */
  readonly endpoint: string;
  readonly settings: OtlpSignalSettings;
  /** How the last deliveries went. */
  readonly delivery: Delivery;
  readonly options: ProbeOptions;
  /** Size of a request as large as a real one. */
  readonly bytes: number;
  readonly temporality: "cumulative" | "delta";
}

/** @param ignored why an address in a variable is ignored, if one is: then the user expects exports */
function unsentFinding(signal: OtlpSignal, why: string, ignored: string | undefined): Finding {
  const { ok, remark } = inArea(signal);
  return ignored !== undefined && why.endsWith(ignored) ? remark(why) : ok(why);
}

/** What the answer to an empty export says, and that to further ones which it gives reason for. */
async function* answerFindings(destination: Destination, answer: ProbeResult, tookMs: number): AsyncGenerator<Finding> {
  const { signal, endpoint, settings, delivery } = destination;
  const isAccepted = answer.outcome.status === "ok";
  // Some backends refuse only empty exports
  if (answer.httpStatus === 400 && delivery.last_ok !== null && delivery.last_problem === null) {
    const refusal = settings.protocol === "grpc" ? "INVALID_ARGUMENT" : 400;
    yield inArea(signal).ok(`${endpoint} answers ${refusal} to an empty export, but accepted the last real one`);
  } else if (isAccepted && delivery.last_rejected > 0) {
    yield rejectedFinding(destination);
  } else {
    if (isAccepted) yield* sizeFindings(destination);
    yield (await changeThatHelps(destination, answer)) ?? findingOf(destination, answer, tookMs);
  }
}

/** If the backend accepts an empty export, and refuses one without records that has a real size. */
async function* sizeFindings({ signal, settings, delivery, options, bytes }: Destination): AsyncGenerator<Finding> {
  const { outcome } = await probe(signal, settings, { ...options, bytes });
  if (outcome.status === "ok" || (outcome.status !== "too-large" && !mayBeTooLarge(outcome))) return;
  const found =
    delivery.size_limit === null
      ? "until then drains find the size that is accepted"
      : `drains found that ${delivery.size_limit} bytes are accepted`;
  yield inArea(signal).remark(
    `an empty export is accepted, but not one of ${Math.round(bytes / 1000)} kB: ${outcome.reason}`,
    `raise the limit of the backend or of the gateway before it; ${found}, or set it: ${suggest("config set otlp.maxBytesPerRequest <bytes>")}`,
  );
}

/** If the backend refuses the request, and accepts it with another compression or protocol: the setting to change. */
async function changeThatHelps(
  { signal, settings, options }: Destination,
  { outcome, httpStatus = 0 }: ProbeResult,
): Promise<Finding | undefined> {
  if (outcome.status !== "refused" || isEndpointMissing(httpStatus) || isRedirect(httpStatus)) return undefined;
  if (httpStatus === 401 || httpStatus === 403 || httpStatus < 400) return undefined;
  const isAccepted = async (change: Partial<OtlpSignalSettings>): Promise<boolean> =>
    (await probe(signal, { ...settings, ...change }, options)).outcome.status === "ok";
  const change = async (): Promise<string | undefined> => {
    if (settings.compression === "gzip" && (await isAccepted({ compression: "none" }))) {
      return `the backend cannot read gzip: ${suggest("config set otlp.compression none")}`;
    }
    const protocol = settings.protocol === "http/json" ? "http/protobuf" : "http/json";
    if (settings.protocol !== "grpc" && (await isAccepted({ protocol }))) {
      return `the backend expects another protocol: ${suggest(`config set otlp.protocol ${protocol}`)}`;
    }
    return undefined;
  };
  const remedy = await change();
  return remedy === undefined ? undefined : inArea(signal).broken(outcome.reason, `${remedy}; ${KEPT}`);
}

function findingOf(
  { signal, endpoint, settings }: Destination,
  { outcome, httpStatus }: ProbeResult,
  tookMs: number,
): Finding {
  const { ok, remark, broken } = inArea(signal);
  const { protocol, compression } = settings;
  switch (outcome.status) {
    case "ok": {
      const message = outcome.message === undefined ? "" : `, with the message: ${outcome.message}`;
      const status = protocol === "grpc" ? "OK" : (httpStatus ?? "yes");
      return ok(
        `${endpoint} answers ${status} to ${protocol} (${compression})${throughProxy(settings)} in ${duration(tookMs)}${message}`,
      );
    }
    case "retry":
      return httpStatus === undefined
        ? broken(outcome.reason, `${outcome.remedy ?? "start the backend, or correct otlp.endpoint"}; ${KEPT}`)
        : remark(outcome.reason, `the backend asks to retry later; ${KEPT}`);
    case "too-large":
      return remark(outcome.reason, "the backend rejects even an empty request as too large: contact its operator");
    case "refused":
      return broken(outcome.reason, `${remedyFor(signal, settings, httpStatus)}; ${KEPT}`);
  }
}

function throughProxy({ url, proxy: setting }: OtlpSignalSettings): string {
  const proxy = URL.canParse(url) ? proxyFor(new URL(url), setting) : undefined;
  return proxy === undefined ? "" : ` through ${nameOf(proxy)}`;
}

/** An empty export contains nothing to reject, so only the last real one shows what a backend rejects. */
function rejectedFinding({ signal, endpoint, delivery, temporality }: Destination): Finding {
  const { last_rejected: rejected, last_records: records, last_problem: problem } = delivery;
  const reason = problem ?? "no reason given";
  const what = plural(records, NOUNS[signal]);
  const todo = (): string => {
    if (/cumulative|temporality/i.test(problem ?? "")) {
      const change = suggest("config set otlp.metrics.temporality delta");
      return `if the backend takes only deltas: ${change}; rejected counters stay pending`;
    }
    if (signal !== "metrics") return `rejected ${NOUNS[signal]}s are not sent again; their session stays in the store`;
    const sequel =
      temporality === "delta" && rejected < records
        ? "rejected deltas are dropped, because the backend does not name them"
        : "the next export includes what it rejected";
    return `fix the cause at the backend; ${sequel}`;
  };
  return inArea(signal).broken(
    `${endpoint} answers, but rejected ${rejected} of ${what} of the last export: ${reason}`,
    todo(),
  );
}

const NOUNS = { traces: "span", metrics: "point", logs: "log record" } as const satisfies Record<OtlpSignal, string>;

/** What to do if the backend refuses an empty export. */
function remedyFor(signal: OtlpSignal, settings: OtlpSignalSettings, httpStatus = 0): string {
  if (isRedirect(httpStatus)) {
    return `set the final address, which is used unchanged: ${suggest(`config set otlp.${signal}.endpoint <url>`)}`;
  }
  if (isEndpointMissing(httpStatus)) {
    const appended = settings.protocol === "grpc" ? "" : ` (/v1/${signal} is appended to otlp.endpoint)`;
    // Many backends accept traces only
    const off = suggest(`config set otlp.${signal}.enabled false`);
    return `the address is not an OTLP endpoint${appended}, or it does not accept ${signal}: ${off}`;
  }
  if ((httpStatus === 401 || httpStatus === 403) && hasProvidedHeaders(settings)) {
    return `the backend refuses the headers that ${credentialsSetting(settings)} provides`;
  }
  return REMEDIES[httpStatus] ?? `${suggest("config")} shows the destination`;
}

const REMEDIES: Readonly<Record<number, string>> = {
  400: "the backend expects another protocol (see otlp.protocol), or refuses only empty exports: then the next session is accepted",
  401: `it requires credentials: ${suggest("config set otlp.headers.authorization <value>")}`,
  403: "the credentials in otlp.headers have no write permission",
  415: `the backend expects another protocol: ${suggest("config set otlp.protocol http/json")}`,
};

/** @param source where the setting is from; `undefined`: it is the default */
function deltaFinding(source: Source | undefined): Finding {
  const from = source === undefined ? "" : ` (${describeSource(source)})`;
  return inArea("metrics").remark(
    `exported as deltas${from}: Prometheus rejects deltas, and a gateway does not report that back`,
    "set OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY=cumulative where agents are started, unless the backend needs deltas",
  );
}

function impossibleDate(endpoint: string, dateMs: number): Finding {
  const date = new Date(dateMs).toISOString().slice(0, 10);
  return inArea("clock").remark(`${endpoint} gives the date ${date}, which cannot be right and is ignored`);
}

/** From here on, spans of this machine visibly differ in time from those of other machines. */
const SKEW_MS = 30_000;

function* clockFindings(skews: readonly number[]): Generator<Finding> {
  const { ok, remark } = inArea("clock");
  const [skew] = [...skews].sort((a, b) => Math.abs(b) - Math.abs(a));
  if (skew === undefined) return;
  if (Math.abs(skew) <= SKEW_MS) return yield ok("agrees with the backend's clock to within seconds");
  yield remark(
    `this machine's clock is ${duration(Math.abs(skew))} ${skew > 0 ? "behind" : "ahead of"} the backend's`,
    "synchronise it with a time server: exported data has wrong times",
  );
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SOON_MS = 30 * DAY_MS;

const CERTIFICATE_REMEDIES = {
  "otlp.clientCertificate": "renew it; a new file at the same path is used by the next drain",
  "otlp.certificate": "replace the file by the authority's new certificate",
} as const;

/** Certificates that live for days are renewed when a third of their time is left. */
const endsSoon = ({ fromMs, toMs }: CertificateFact, nowMs: number): boolean =>
  toMs - nowMs < Math.min(SOON_MS, (toMs - fromMs) / 3);

const inWords = (ms: number): string =>
  ms < 2 * DAY_MS ? plural(Math.floor(ms / HOUR_MS), "hour") : plural(Math.floor(ms / DAY_MS), "day");
