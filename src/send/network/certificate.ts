import { X509Certificate } from "node:crypto";

/** Who a certificate is for, and when it is valid. */
export interface CertificateFact {
  readonly subject: string;
  readonly issuer: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Why it is not valid at the time of reading; absent if it is. */
  readonly problem?: "has expired" | "is not valid yet";
}

/** The certificates of a PEM text, in order; without those that cannot be read. */
export function certificatesIn(pem: string, nowMs = Date.now()): readonly CertificateFact[] {
  const blocks = pem.match(/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]+?-----END [A-Z0-9 ]+-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      const { subject, issuer, validFrom, validTo } = new X509Certificate(block);
      const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
      const problem = nowMs > toMs ? "has expired" : nowMs < fromMs ? "is not valid yet" : undefined;
      return { subject: nameIn(subject), issuer: nameIn(issuer), fromMs, toMs, ...(problem && { problem }) };
    } catch {
      return [];
    }
  });
}

/** E.g. "valid from 2026-01-01 to 2026-01-02". */
export const validity = ({ fromMs, toMs }: CertificateFact): string =>
  `valid from ${minute(fromMs)} to ${minute(toMs)}`;

// --- internal ---

/** The common name, or the last part of the name if there is none. */
const nameIn = (name: string | undefined): string => {
  const parts = (name ?? "").split("\n");
  const part = parts.find((one) => one.startsWith("CN=")) ?? parts.at(-1) ?? "";
  return JSON.stringify(part.slice(part.indexOf("=") + 1).slice(0, 100));
};

const minute = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
