import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/program.ts";

/** A request body of an agent's own telemetry, as recorded. */
export interface NativeBody {
  /** The folder's file, e.g. `copilot.metrics.json`. */
  readonly name: string;
  readonly signal: "metrics" | "traces" | "logs";
  readonly type: "application/json" | "application/x-protobuf";
  readonly bytes: Buffer;
}

export const nativeBodies = (): readonly NativeBody[] =>
  readdirSync(FOLDER).flatMap((name) => {
    const signal = /\.(metrics|traces|logs)\./.exec(name)?.[1] as NativeBody["signal"] | undefined;
    if (signal === undefined) return [];
    const type = name.endsWith(".json") ? "application/json" : "application/x-protobuf";
    return [{ name, signal, type, bytes: readFileSync(join(FOLDER, name)) }];
  });

/**
 * The same work reported today and as sums since the start: Prometheus accepts neither old points nor deltas, which a
 * team's Collector converts. Only of JSON.
 */
export const ofToday = (body: NativeBody): NativeBody => {
  const nowNs = `${Date.now()}000000`;
  const startNs = `${Date.now() - 60_000}000000`;
  const text = body.bytes
    .toString("utf8")
    .replaceAll(/"startTimeUnixNano":"?\d+"?/g, `"startTimeUnixNano":"${startNs}"`)
    .replaceAll(/"timeUnixNano":"?\d+"?/g, `"timeUnixNano":"${nowNs}"`)
    .replaceAll('"aggregationTemporality":1', '"aggregationTemporality":2');
  return body.type === "application/json" ? { ...body, bytes: Buffer.from(text) } : body;
};

/** @returns the HTTP status */
export async function sendNative(url: string, { signal, type, bytes }: NativeBody): Promise<number> {
  const response = await fetch(`${url}/v1/${signal}`, {
    method: "POST",
    headers: { "content-type": type },
    body: new Uint8Array(bytes),
  });
  await response.arrayBuffer();
  return response.status;
}

// --- internal ---

const FOLDER = join(ROOT, "test", "stack", "native");
