import { randomBytes } from "node:crypto";

/** What the receiver knows of a body without reading it. */
export interface BodyFacts {
  readonly source: string;
  readonly signal: "traces" | "logs" | "metrics";
  readonly encoding: "json" | "proto";
  readonly isGzip: boolean;
}

/** A larger body is refused. The Collector accepts 20 MiB by default. */
export const MAX_BODY_BYTES = 40_000_000;

/** The beginning of a name under which a body is written. It gets another one when it is whole. */
export const UNFINISHED = ".tmp-";

/** A new name that sorts by time: `<ms>-<random>.<source>.<signal>.<json|proto>[.gz]`. */
export function bodyFileName({ source, signal, encoding, isGzip }: BodyFacts, nowMs: number): string {
  const unique = `${String(nowMs).padStart(13, "0")}-${randomBytes(8).toString("hex")}`;
  return `${unique}.${source}.${signal}.${encoding}${isGzip ? ".gz" : ""}`;
}

/** @returns `undefined` if it is not the name of a whole body */
export function readBodyFileName(name: string): (BodyFacts & { readonly receivedMs: number }) | undefined {
  const [, ms, source, signal, encoding, gz] = NAME.exec(name) ?? [];
  if (source === undefined) return undefined;
  return {
    receivedMs: Number(ms),
    source,
    // The pattern has no others
    signal: signal as BodyFacts["signal"],
    encoding: encoding as BodyFacts["encoding"],
    isGzip: gz !== undefined,
  };
}

// --- internal ---

const NAME = /^(\d{13})-[0-9a-f]{16}\.([a-z0-9-]+)\.(traces|logs|metrics)\.(json|proto)(\.gz)?$/;
