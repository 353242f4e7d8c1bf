import { whyUnsent } from "#config/config-state.ts";
import type { Context } from "#config/context.ts";
import type { LoadedConfig } from "#config/load.ts";
import { otlpSettings } from "#config/otlp.ts";
import { redactUrl } from "#config/redact.ts";
import { isoTime } from "#kit/text/figures.ts";
import { VERSION } from "#kit/version.ts";
import type { Delivery } from "./shape.ts";
import type { StoreFacts } from "./store.ts";

/** A signal's destination and last results, without secrets. */
export function deliveryOf(
  signal: "traces" | "metrics",
  loaded: LoadedConfig,
  meta: StoreFacts["meta"],
  { platform, arch, now }: Context,
): Delivery {
  const settings = otlpSettings(loaded.config, { version: VERSION, instanceId: "", os: platform, arch });
  const url = settings[signal]?.url;
  const number = (name: string): number => Number(meta(`${signal}.${name}`) ?? "0");
  const problem = meta(`${signal}.last_reason`);
  return {
    endpoint: url === undefined ? null : redactUrl(url),
    why_not_sent: url === undefined ? (whyUnsent(signal, loaded) ?? NO_ENDPOINT) : null,
    last_ok: number("last_ok_ms") > 0 ? isoTime(number("last_ok_ms")) : null,
    last_problem: problem === undefined || problem === "" ? null : problem,
    last_rejected: number("last_rejected"),
    last_records: number("last_records"),
    size_limit: number("size_limit") > 0 ? number("size_limit") : null,
    not_before: number("not_before_ms") > now() ? isoTime(number("not_before_ms")) : null,
  };
}

// --- internal ---

const NO_ENDPOINT = "export is off (no endpoint)";
