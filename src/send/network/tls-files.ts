import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as tls from "node:tls";
import type { OtlpSignalSettings } from "#core/model/settings.ts";

/** PEM texts for node:https; unset ones are absent. */
export interface TlsFiles {
  readonly ca?: string | string[];
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Reads and checks the PEM files of one destination, so that a wrong one is named before connecting.
 *
 * @throws Error that names the setting, the file and the problem
 */
export async function readTlsFiles(settings: OtlpSignalSettings): Promise<TlsFiles> {
  const { certificatePath, clientCertificatePath, clientKeyPath } = settings;
  if ((clientCertificatePath === undefined) !== (clientKeyPath === undefined)) {
    const [set, missing] = clientKeyPath === undefined ? ["certificate", "key"] : ["key", "certificate"];
    const path = JSON.stringify(clientCertificatePath ?? clientKeyPath);
    throw new TlsFileError(`the client ${set} ${path} is set without a client ${missing}: set both or neither`);
  }
  const ca = await readPem("CA certificate", certificatePath, (pem) => new X509Certificate(pem));
  const cert = await readPem("client certificate", clientCertificatePath, (pem) => new X509Certificate(pem));
  const key = await readPem("client key", clientKeyPath, (pem) => createPrivateKey(pem));
  if (cert !== undefined && key !== undefined) {
    try {
      tls.createSecureContext({ cert, key });
    } catch (error) {
      const files = `${JSON.stringify(clientCertificatePath)} and the client key ${JSON.stringify(clientKeyPath)}`;
      throw new TlsFileError(`the client certificate ${files} do not belong together`, { cause: error });
    }
  }
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

/**
 * The authorities that Node trusts, NODE_EXTRA_CA_CERTS included, and those of the operating system, where companies install theirs.
 * Takes up to 0.1 s, so it is for connections that need it.
 *
 * @returns `undefined` before Node 22.15, which cannot read the system's
 */
export function systemAuthorities(): string[] | undefined {
  const { getCACertificates } = tls as Partial<SinceNode22>;
  if (getCACertificates === undefined) return undefined;
  return [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
}

/** A PEM file that cannot be used. */
export class TlsFileError extends Error {
  readonly code = "E_TLS_FILE";
  override readonly name = "TlsFileError";
}

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

interface SinceNode22 {
  getCACertificates(type: "default" | "system"): readonly string[];
}

async function readPem(
  what: string,
  path: string | undefined,
  check: (pem: string) => void,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const pem = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? "there is no such file" : (error.code ?? error.name);
    throw new TlsFileError(`cannot read the ${what} ${JSON.stringify(path)}: ${reason}`, { cause: error });
  });
  try {
    check(pem);
  } catch (error) {
    throw new TlsFileError(`the ${what} ${JSON.stringify(path)} is not in PEM form, or needs a passphrase`, {
      cause: error,
    });
  }
  return pem;
}

/** The common name, or the last part of the name if there is none. */
const nameIn = (name: string | undefined): string => {
  const parts = (name ?? "").split("\n");
  const part = parts.find((one) => one.startsWith("CN=")) ?? parts.at(-1) ?? "";
  return JSON.stringify(part.slice(part.indexOf("=") + 1).slice(0, 100));
};

const minute = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
