import type { OtlpSignal } from "../model/settings.ts";
import { isNotThere } from "../otlp/answer.ts";
import type { DeliverySummary } from "../otlp/deliver.ts";

/** What the user can do about a failed delivery, to be appended to its reason. Empty if there is nothing to add. */
export function adviceOn(signal: OtlpSignal, { httpStatus, kept, oversized }: DeliverySummary): string {
  const advice = isNotThere(httpStatus)
    ? `check otlp.endpoint: /v1/traces and /v1/metrics are appended to it; if it accepts no ${signal}, set otlp.${signal}.enabled to false`
    : ADVICE[httpStatus ?? 0];
  if (kept > 0) return advice === undefined ? "" : `; ${advice}`;
  return oversized > 0 ? `; ${oversized} stay queued although each is too large by itself: ${TOO_LARGE}` : "";
}

// --- internal ---

const TOO_LARGE = "raise the backend's limit, or otlp.maxBytesPerRequest";
const ADVICE: Readonly<Record<number, string>> = {
  200: "check otlp.endpoint: it is the address of an OTLP receiver, often on port 4318",
  400: "rejected spans stay queued and block nothing; if all are rejected, check otlp.protocol",
  401: "check otlp.headers.authorization",
  403: "check otlp.headers.authorization: these credentials may not write",
  415: "check otlp.protocol",
};
