import { headerReader } from "#collect/bridge/read-headers.ts";
import type { Context } from "#config/context.ts";
import { describeSource } from "#config/layer.ts";
import { loadConfig } from "#config/load.ts";
import { otlpSettings } from "#config/otlp.ts";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { isPlausibleDate } from "#kit/plausible-time.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, plural } from "#kit/text/figures.ts";
import { VERSION } from "#kit/version.ts";
import { nameOf, proxyFor } from "#send/network/proxy.ts";
import { isEndpointMissing, isRedirect } from "#send/otlp/http-status.ts";
import { type ProbeOptions, type ProbeResult, probe } from "#send/otlp/probe.lazy.ts";
import { credentialsSetting, hasProvidedHeaders } from "#send/otlp/provided-headers.ts";
import { mayBeTooLarge } from "#send/otlp/tally.ts";
import type { Delivery, Status } from "../status/shape.ts";
import { certificateFindings } from "./certificates.ts";
import { type Finding, inArea } from "./finding.ts";

/** Checks with an empty export, and one of real size, whether the backend accepts what we send, and compares clocks. */
export async function* endpointFindings(status: Status, context: Context): AsyncGenerator<Finding> {
  const { config, sources, ignoredEndpoint } = await loadConfig(context);
  const { platform: os, arch } = context;
  const settings = otlpSettings(config, { version: VERSION, instanceId: "", os, arch });
  const readHeaders = headerReader(context.places, os, context.now);
  yield* certificateFindings(settings, context.now());
  const bytes = Math.min(REAL_BYTES, settings.maxBytesPerRequest);
  const skews: number[] = [];
  for (const signal of ["traces", "metrics"] as const) {
    const { ok, remark } = inArea(signal);
    const of = settings[signal];
    const { endpoint, why_not_sent: why, last_ok, last_problem, last_rejected } = status.delivery[signal];
    if (of === undefined || endpoint === null) {
      yield ignoredEndpoint !== undefined && why?.endsWith(ignoredEndpoint) ? remark(why) : ok(why ?? "not sent");
      continue;
    }
    const beganMs = context.now();
    const ask = { version: VERSION, readHeaders, timeoutMs: Math.min(of.timeoutMs, PROBE_TIMEOUT_MS) };
    const answer = await probe(signal, of, ask);
    const endedMs = context.now();
    // Some backends refuse only empty exports
    if (answer.httpStatus === 400 && last_ok !== null && last_problem === null) {
      yield ok(
        `${endpoint} answers ${of.protocol === "grpc" ? "INVALID_ARGUMENT" : 400} to an empty export, but accepted the last real one`,
      );
    } else if (answer.outcome.status === "ok" && last_rejected > 0) {
      yield rejectedFinding(signal, endpoint, status.delivery[signal], config.otlp.metrics.temporality);
    } else {
      if (answer.outcome.status === "ok") {
        yield* sizeFindings(signal, of, status.delivery[signal], { ...ask, bytes });
      }
      yield (await changeThatHelps(signal, of, answer, ask)) ??
        findingOf(signal, endpoint, of, answer, endedMs - beganMs);
    }
    // A date has whole seconds, so add half a second on average
    if (answer.dateMs !== undefined && !isPlausibleDate(answer.dateMs, endedMs)) {
      const date = new Date(answer.dateMs).toISOString().slice(0, 10);
      yield inArea("clock").remark(`${endpoint} gives the date ${date}, which cannot be right and is ignored`);
    } else if (answer.dateMs !== undefined) skews.push(answer.dateMs + 500 - (beganMs + endedMs) / 2);
  }
  if (settings.metrics?.temporality === "delta") {
    const source = sources.get("otlp.metrics.temporality");
    yield inArea("metrics").remark(
      `exported as deltas${source === undefined ? "" : ` (${describeSource(source)})`}: Prometheus rejects deltas, and a gateway does not report that back`,
      "set OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY=cumulative where agents are started, unless the backend needs deltas",
    );
  }
  yield* clockFindings(skews);
}

// --- internal ---

const PROBE_TIMEOUT_MS = 2000;
/** About as much as 512 spans. */
const REAL_BYTES = 500_000;
const KEPT = "spans stay queued, and a later drain sends them";

/** If the backend accepts an empty export, and refuses one without records that has a real size. */
async function* sizeFindings(
  signal: "traces" | "metrics",
  settings: OtlpSignalSettings,
  { size_limit: found }: Delivery,
  ask: ProbeOptions & { readonly bytes: number },
): AsyncGenerator<Finding> {
  const { outcome } = await probe(signal, settings, ask);
  if (outcome.status === "ok" || (outcome.status !== "too-large" && !mayBeTooLarge(outcome))) return;
  yield inArea(signal).remark(
    `an empty export is accepted, but not one of ${Math.round(ask.bytes / 1000)} kB: ${outcome.reason}`,
    `raise the limit of the backend or of the gateway before it; ${found === null ? "until then drains find the size that is accepted" : `drains found that ${found} bytes are accepted`}, or set it: ${suggest("config set otlp.maxBytesPerRequest <bytes>")}`,
  );
}

/** If the backend refuses the request, and accepts it with another compression or protocol: the setting to change. */
async function changeThatHelps(
  signal: "traces" | "metrics",
  settings: OtlpSignalSettings,
  { outcome, httpStatus = 0 }: ProbeResult,
  ask: ProbeOptions,
): Promise<Finding | undefined> {
  if (outcome.status !== "refused" || isEndpointMissing(httpStatus) || isRedirect(httpStatus)) return undefined;
  if (httpStatus === 401 || httpStatus === 403 || httpStatus < 400) return undefined;
  const { broken } = inArea(signal);
  const isAccepted = async (change: Partial<OtlpSignalSettings>): Promise<boolean> =>
    (await probe(signal, { ...settings, ...change }, ask)).outcome.status === "ok";
  if (settings.compression === "gzip" && (await isAccepted({ compression: "none" }))) {
    return broken(
      outcome.reason,
      `the backend cannot read gzip: ${suggest("config set otlp.compression none")}; ${KEPT}`,
    );
  }
  const protocol = settings.protocol === "http/json" ? "http/protobuf" : "http/json";
  if (settings.protocol !== "grpc" && (await isAccepted({ protocol }))) {
    return broken(
      outcome.reason,
      `the backend expects another protocol: ${suggest(`config set otlp.protocol ${protocol}`)}; ${KEPT}`,
    );
  }
  return undefined;
}

function findingOf(
  signal: "traces" | "metrics",
  endpoint: string,
  settings: OtlpSignalSettings,
  { outcome, httpStatus }: ProbeResult,
  tookMs: number,
): Finding {
  const { ok, remark, broken } = inArea(signal);
  const { protocol, compression } = settings;
  switch (outcome.status) {
    case "ok": {
      const message = outcome.message === undefined ? "" : `, with the message: ${outcome.message}`;
      return ok(
        `${endpoint} answers ${protocol === "grpc" ? "OK" : (httpStatus ?? "yes")} to ${protocol} (${compression})${throughProxy(settings)} in ${duration(tookMs)}${message}`,
      );
    }
    case "retry":
      return httpStatus === undefined
        ? broken(outcome.reason, `${outcome.remedy ?? "start the backend, or correct otlp.endpoint"}; ${KEPT}`)
        : remark(outcome.reason, `the backend asks to retry later; ${KEPT}`);
    case "too-large":
      return remark(outcome.reason, "the backend rejects even an empty request as too large: contact its operator");
    case "refused":
      return broken(
        outcome.reason,
        `${remedyFor(signal, settings, httpStatus) ?? `${suggest("config")} shows the destination`}; ${KEPT}`,
      );
  }
}

function throughProxy({ url, proxy: setting }: OtlpSignalSettings): string {
  const proxy = URL.canParse(url) ? proxyFor(new URL(url), setting) : undefined;
  return proxy === undefined ? "" : ` through ${nameOf(proxy)}`;
}

/** An empty export contains nothing to reject, so only the last real one shows what a backend rejects. */
function rejectedFinding(
  signal: "traces" | "metrics",
  endpoint: string,
  last: Delivery,
  temporality: "cumulative" | "delta",
): Finding {
  const { last_rejected: rejected, last_records: records, last_problem: reason } = last;
  const what = signal === "traces" ? plural(records, "span") : plural(records, "point");
  return inArea(signal).broken(
    `${endpoint} answers, but rejected ${rejected} of ${what} of the last export: ${reason ?? "no reason given"}`,
    /cumulative|temporality/i.test(reason ?? "")
      ? `if the backend takes only deltas: ${suggest("config set otlp.metrics.temporality delta")}; rejected counters stay pending`
      : signal === "traces"
        ? "rejected spans are not sent again; they stay in the store"
        : `fix the cause at the backend; ${temporality === "delta" && rejected < records ? "rejected deltas are dropped, because the backend does not name them" : "the next export includes what it rejected"}`,
  );
}

/** Many backends accept traces only. */
const remedyFor = (signal: "traces" | "metrics", settings: OtlpSignalSettings, httpStatus = 0): string | undefined =>
  isRedirect(httpStatus)
    ? `set the final address, which is used unchanged: ${suggest(`config set otlp.${signal}.endpoint <url>`)}`
    : isEndpointMissing(httpStatus)
      ? `the address is not an OTLP endpoint${settings.protocol === "grpc" ? "" : " (/v1/traces and /v1/metrics are appended to otlp.endpoint)"}, or it does not accept ${signal}: ${suggest(`config set otlp.${signal}.enabled false`)}`
      : (httpStatus === 401 || httpStatus === 403) && hasProvidedHeaders(settings)
        ? `the backend refuses the headers that ${credentialsSetting(settings)} provides`
        : REMEDIES[httpStatus];

const REMEDIES: Readonly<Record<number, string>> = {
  400: "the backend expects another protocol (see otlp.protocol), or refuses only empty exports: then the next session is accepted",
  401: `it requires credentials: ${suggest("config set otlp.headers.authorization <value>")}`,
  403: "the credentials in otlp.headers have no write permission",
  415: `the backend expects another protocol: ${suggest("config set otlp.protocol http/json")}`,
};

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
