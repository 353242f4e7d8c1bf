import { sourceInWords } from "../../config/layer.ts";
import { loadConfig } from "../../config/load.ts";
import { otlpSettings } from "../../config/otlp.ts";
import type { Context } from "../../context.ts";
import type { OtlpSignalSettings } from "../../model/settings.ts";
import { suggest } from "../../model/suggest.ts";
import { isNotThere } from "../../otlp/answer.ts";
import { type ProbeAnswer, probe } from "../../otlp/probe.ts";
import { duration } from "../../text/figures.ts";
import { VERSION } from "../../version.ts";
import type { Status } from "../status/shape.ts";
import { type Finding, inArea } from "./finding.ts";

/** Checks with an empty export whether the backend accepts what we send, and compares clocks. */
export async function* endpointFindings(status: Status, context: Context): AsyncGenerator<Finding> {
  const { config, sources } = await loadConfig(context);
  const { platform: os, arch } = context;
  const settings = otlpSettings(config, { version: VERSION, instanceId: "", os, arch });
  const skews: number[] = [];
  for (const signal of ["traces", "metrics"] as const) {
    const { ok } = inArea(signal);
    const of = settings[signal];
    const { endpoint, why_not_sent: why, last_ok, last_problem } = status.delivery[signal];
    if (of === undefined || endpoint === null) {
      yield ok(why ?? "not sent");
      continue;
    }
    const beganMs = context.now();
    const answer = await probe(signal, of, { version: VERSION, timeoutMs: Math.min(of.timeoutMs, PROBE_TIMEOUT_MS) });
    const endedMs = context.now();
    // Some backends refuse only empty exports
    if (answer.httpStatus === 400 && last_ok !== null && last_problem === null) {
      yield ok(`${endpoint} answers 400 to an export of nothing, and took the last one that held something`);
    } else yield findingOf(signal, endpoint, of, answer, endedMs - beganMs);
    // A date has whole seconds, so add half a second on average
    if (answer.dateMs !== undefined) skews.push(answer.dateMs + 500 - (beganMs + endedMs) / 2);
  }
  if (settings.metrics?.temporality === "delta") {
    const source = sources.get("otlp.metrics.temporality");
    yield inArea("metrics").remark(
      `they go as deltas${source === undefined ? "" : ` (${sourceInWords(source)})`}: Prometheus takes none, and says so to no machine behind a gateway`,
      "set OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY=cumulative where agents are started, unless the backend wants deltas",
    );
  }
  yield* clockFindings(skews);
}

// --- internal ---

const PROBE_TIMEOUT_MS = 2000;

function findingOf(
  signal: "traces" | "metrics",
  endpoint: string,
  { protocol, compression }: OtlpSignalSettings,
  { outcome, httpStatus }: ProbeAnswer,
  tookMs: number,
): Finding {
  const { ok, remark, broken } = inArea(signal);
  const kept = "what was collected waits in the store and is sent by a later drain";
  switch (outcome.status) {
    case "ok": {
      const words = outcome.message === undefined ? "" : `, and says: ${outcome.message}`;
      return ok(
        `${endpoint} answers ${httpStatus ?? "yes"} to ${protocol} (${compression}) in ${duration(tookMs)}${words}`,
      );
    }
    case "retry":
      return httpStatus === undefined
        ? broken(outcome.reason, `start the backend, or correct otlp.endpoint; ${kept}`)
        : remark(outcome.reason, `the backend asks for patience; ${kept}`);
    case "too-large":
      return remark(outcome.reason, "the backend finds an empty request too large: ask who runs it");
    case "refused":
      return broken(
        outcome.reason,
        `${adviceOn(signal, httpStatus) ?? `${suggest("config")} shows the destination`}; ${kept}`,
      );
  }
}

/** Many backends accept traces only. */
const adviceOn = (signal: "traces" | "metrics", httpStatus = 0): string | undefined =>
  isNotThere(httpStatus)
    ? `the address is none of OTLP (/v1/traces and /v1/metrics are appended to otlp.endpoint), or it takes no ${signal}: ${suggest(`config set otlp.${signal}.enabled false`)}`
    : ADVICE[httpStatus];

const ADVICE: Readonly<Record<number, string>> = {
  400: "the backend reads another protocol (see otlp.protocol), or refuses this export alone, since it holds nothing: then the next session is taken",
  401: `it wants credentials: ${suggest("config set otlp.headers.authorization <value>")}`,
  403: "the credentials in otlp.headers are not allowed to write",
  415: `the backend reads another protocol: ${suggest("config set otlp.protocol http/json")}`,
};

/** Beyond this, spans of this machine do not line up with those of others. */
const SKEW_MS = 30_000;

function* clockFindings(skews: readonly number[]): Generator<Finding> {
  const { ok, remark } = inArea("clock");
  const [skew] = [...skews].sort((a, b) => Math.abs(b) - Math.abs(a));
  if (skew === undefined) return;
  if (Math.abs(skew) <= SKEW_MS) return yield ok("agrees with the backend's to within seconds");
  yield remark(
    `this machine's is ${duration(Math.abs(skew))} ${skew > 0 ? "behind" : "ahead of"} the backend's`,
    "set it by a time server: what is sent shows at the wrong time",
  );
}
