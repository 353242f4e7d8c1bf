import { readFile } from "node:fs/promises";
import type { OtlpSettings } from "#core/model/settings.ts";
import { plural } from "#kit/text/figures.ts";
import { type CertificateFact, certificatesIn, validity } from "#send/network/certificate.ts";
import { type Finding, inArea } from "../finding.ts";

/** Certificates in the settings that are not valid, or not for long. The empty export reports files that cannot be read. */
export async function* certificateFindings(settings: OtlpSettings, nowMs: number): AsyncGenerator<Finding> {
  const files = new Map<string, keyof typeof REMEDIES>();
  for (const signal of [settings.traces, settings.metrics]) {
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
        yield broken(`${text} ${problem}: it is ${validity(certificate)}`, REMEDIES[setting]);
      } else if (problem === undefined && endsSoon(certificate, nowMs)) {
        yield remark(`${text} ends in ${inWords(toMs - nowMs)}: it is ${validity(certificate)}`, REMEDIES[setting]);
      }
    }
  }
}

// --- internal ---

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SOON_MS = 30 * DAY_MS;

const REMEDIES = {
  "otlp.clientCertificate": "renew it; a new file at the same path is used by the next drain",
  "otlp.certificate": "replace the file by the authority's new certificate",
} as const;

/** Certificates that live for days are renewed when a third of their time is left. */
const endsSoon = ({ fromMs, toMs }: CertificateFact, nowMs: number): boolean =>
  toMs - nowMs < Math.min(SOON_MS, (toMs - fromMs) / 3);

const inWords = (ms: number): string =>
  ms < 2 * DAY_MS ? plural(Math.floor(ms / HOUR_MS), "hour") : plural(Math.floor(ms / DAY_MS), "day");
