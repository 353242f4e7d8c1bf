import { randomBytes } from "node:crypto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import { encodeMetrics } from "./encode.ts";

/**
 * The body of a request without records that has the size of a real one: a resource with a long attribute, and nothing of that
 * resource. It can be compressed about as well as spans.
 *
 * @param bytes at least; before compression
 * @see opentelemetry-proto: requests of both signals have the same field numbers, so in protobuf only their records differ
 */
export function paddedBody(signal: OtlpSignal, protocol: OtlpSignalSettings["protocol"], bytes: number): Uint8Array {
  const resource = resourceFromAttributes({ "openhook.probe.padding": padding(bytes) });
  const body = encodeMetrics([{ resource, scopeMetrics: [] }], protocol);
  if (protocol !== "http/json" || signal === "metrics") return body;
  const text = Buffer.from(body).toString();
  return Buffer.from(text.replace('"resourceMetrics"', '"resourceSpans"').replace('"scopeMetrics"', '"scopeSpans"'));
}

// --- internal ---

/** Of spans about an eighth is left. */
const REPEATED = 8;
const PIECE_BYTES = 48;

function padding(bytes: number): string {
  const pieces: string[] = [];
  for (let made = 0; made < bytes; made += (REPEATED * PIECE_BYTES * 4) / 3) {
    pieces.push(randomBytes(PIECE_BYTES).toString("base64").repeat(REPEATED));
  }
  return pieces.join("");
}
