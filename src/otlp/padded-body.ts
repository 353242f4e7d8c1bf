import { randomBytes } from "node:crypto";
import type { OtlpSignal, OtlpSignalSettings } from "../model/settings.ts";
import { protobufField } from "./protobuf-field.ts";

/**
 * The body of a request without records that has the size of a real one: a resource with a long attribute, and nothing of that
 * resource. It can be compressed about as well as spans.
 *
 * @param bytes at least; before compression
 * @see opentelemetry-proto: ExportTraceServiceRequest and ExportMetricsServiceRequest have the same field numbers
 */
export function paddedBody(signal: OtlpSignal, protocol: OtlpSignalSettings["protocol"], bytes: number): Uint8Array {
  const value = padding(bytes);
  if (protocol === "http/json") {
    const resource = { attributes: [{ key: KEY, value: { stringValue: value } }] };
    const [list, scopes] = signal === "traces" ? ["resourceSpans", "scopeSpans"] : ["resourceMetrics", "scopeMetrics"];
    return Buffer.from(JSON.stringify({ [list]: [{ resource, [scopes]: [] }] }));
  }
  const attribute = [protobufField(1, Buffer.from(KEY)), protobufField(2, protobufField(1, Buffer.from(value)))];
  const resource = protobufField(1, Buffer.concat(attribute));
  return protobufField(1, protobufField(1, resource));
}

// --- internal ---

const KEY = "openhook.probe.padding";
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
