import type { OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import type { DeliverySummary } from "#send/otlp/deliver.ts";
import { credentialsSetting } from "#send/otlp/provided-headers.ts";
import { isEndpointMissing, isRedirect } from "#send/otlp/tally.ts";

/**
 * What the user can do about a failed delivery, to be appended to its reason. Empty if there is nothing to add.
 *
 * @param isSizeTried whether a small request was refused too, if the status can be due to the size
 */
export function adviceOn(
  signal: OtlpSignal,
  { httpStatus, kept, oversized, remedy, mayBeSize }: DeliverySummary,
  settings: AdvisedSettings,
  isSizeTried = true,
): string {
  if (kept > 0) {
    const advice = remedy ?? adviceOnStatus(signal, httpStatus, settings);
    const next = mayBeSize === true && !isSizeTried ? NEXT_IS_SMALL : undefined;
    return [advice, next].map((one) => (one === undefined ? "" : `; ${one}`)).join("");
  }
  return oversized > 0 ? `; ${oversized} stay queued although each is too large by itself: ${TOO_LARGE}` : "";
}

// --- internal ---

type AdvisedSettings = Pick<OtlpSignalSettings, "compression" | "protocol" | "headersCommand" | "headersFile">;

function adviceOnStatus(signal: OtlpSignal, httpStatus = 0, settings: AdvisedSettings): string | undefined {
  const { compression, protocol } = settings;
  if (isEndpointMissing(httpStatus)) {
    if (protocol === "grpc") {
      return `check otlp.endpoint; if it accepts no ${signal}, set otlp.${signal}.enabled to false`;
    }
    return `check otlp.endpoint: /v1/${signal} is appended to it; if it accepts no ${signal}, set otlp.${signal}.enabled to false`;
  }
  if (isRedirect(httpStatus)) return `set otlp.${signal}.endpoint to the final address, which is used unchanged`;
  if (httpStatus === 401) return `check ${credentialsSetting(settings)}`;
  if (httpStatus === 403) return `check ${credentialsSetting(settings)}: these credentials may not write`;
  const advice = ADVICE[httpStatus];
  return advice !== undefined && compression === "gzip" && MAY_BE_GZIP.has(httpStatus)
    ? `${advice}, or set otlp.compression to none if it cannot read gzip`
    : advice;
}

/** Statuses of backends that cannot read a compressed body. */
const MAY_BE_GZIP: ReadonlySet<number> = new Set([400, 415, 422]);

const NEXT_IS_SMALL = "a gateway may refuse large requests in this way: if this repeats, a small one is tried";
const TOO_LARGE = "raise the backend's limit, or otlp.maxBytesPerRequest";
const ADVICE: Readonly<Record<number, string>> = {
  200: "check otlp.endpoint: it is the address of an OTLP receiver, often on port 4318",
  400: "rejected spans stay queued and block nothing; if all are rejected, check otlp.protocol",
  415: "check otlp.protocol",
  422: "rejected spans stay queued and block nothing; if all are rejected, check otlp.protocol",
};
