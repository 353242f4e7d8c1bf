/** A span, an event of a span or a log record of an agent, whatever it was written in. Nothing of it has been checked. */
export interface RawRecord {
  readonly kind: "span" | "event" | "log";
  readonly name: string | undefined;
  /** An attribute that is a text, a number or a boolean. */
  attribute(name: string): string | number | boolean | undefined;
  /** In lower-case hex. */
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly parentSpanId: string | undefined;
  /** In nanoseconds since the epoch; of a log record, when it happened or was seen. */
  readonly startNs: bigint | undefined;
  /** Of a span. */
  readonly endNs?: bigint | undefined;
  /** Of a span. They have its attributes too. */
  readonly events?: () => readonly RawRecord[];
}

/**
 * Reads a record of OTLP's JSON, or of OpenTelemetry's SDK for JavaScript as its objects look in JSON, which file exporters of agents
 * write.
 *
 * @returns `undefined` if it is neither a span nor a log record
 */
export function rawRecord(json: unknown): RawRecord | undefined {
  if (!isObject(json)) return undefined;
  const context = [json["_spanContext"], json["spanContext"]].find(isObject) ?? json;
  const parent = isObject(json["parentSpanContext"]) ? json["parentSpanContext"]["spanId"] : undefined;
  const spanStart = timeOf(json["startTimeUnixNano"] ?? json["startTime"]);
  const attribute = attributesOf(json["attributes"]);
  const ids = {
    traceId: idOf(context["traceId"], 16),
    spanId: idOf(context["spanId"], 8),
    parentSpanId: idOf(json["parentSpanId"] ?? parent, 8),
  };
  if (spanStart !== undefined) {
    const endNs = timeOf(json["endTimeUnixNano"] ?? json["endTime"]);
    const span = { kind: "span" as const, name: textOf(json["name"]), attribute, ...ids, startNs: spanStart, endNs };
    return { ...span, events: () => eventsOf(json["events"], span) };
  }
  const times = [json["timeUnixNano"], json["hrTime"], json["observedTimeUnixNano"], json["hrTimeObserved"]];
  const startNs = times.map(timeOf).find((time) => time !== undefined && time > 0n);
  if (startNs === undefined) return undefined;
  const name = textOf(attribute("event.name")) ?? textOf(json["eventName"]);
  return { kind: "log", name, attribute, ...ids, startNs };
}

// --- internal ---

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function eventsOf(events: unknown, span: RawRecord): readonly RawRecord[] {
  return (Array.isArray(events) ? events : []).filter(isObject).map((event) => {
    const attribute = attributesOf(event["attributes"]);
    return {
      ...span,
      kind: "event",
      name: textOf(event["name"]),
      attribute: (name) => attribute(name) ?? span.attribute(name),
      startNs: timeOf(event["timeUnixNano"] ?? event["time"]),
    };
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function attributesOf(attributes: unknown): RawRecord["attribute"] {
  if (!Array.isArray(attributes)) return (name) => (isObject(attributes) ? scalarOf(attributes[name]) : undefined);
  return (name) => {
    // Codex writes two `thread.id`: the thread of the process, and later its own
    const found: unknown = attributes.findLast((one) => isObject(one) && one["key"] === name);
    const value = isObject(found) ? found["value"] : undefined;
    if (!isObject(value)) return undefined;
    // A 64-bit number is a text in proto3's JSON
    const int = scalarOf(value["intValue"]);
    if (int !== undefined) return Number(int);
    return scalarOf(value["stringValue"] ?? value["doubleValue"] ?? value["boolValue"]);
  };
}

const scalarOf = (value: unknown): string | number | boolean | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;

/** Nanoseconds as a number or text, or seconds and nanoseconds. */
function timeOf(time: unknown): bigint | undefined {
  if (Array.isArray(time)) {
    const [seconds, nanos]: unknown[] = time;
    if (!Number.isSafeInteger(seconds) || !Number.isSafeInteger(nanos)) return undefined;
    return BigInt(Number(seconds)) * 1_000_000_000n + BigInt(Number(nanos));
  }
  if (typeof time === "string") return /^\d{1,20}$/.test(time) ? BigInt(time) : undefined;
  return typeof time === "number" && Number.isInteger(time) && time >= 0 ? BigInt(time) : undefined;
}

/** Some exporters write the base64 of proto3's JSON instead of hex. */
function idOf(id: unknown, bytes: number): string | undefined {
  if (typeof id !== "string") return undefined;
  const hex = id.length === 2 * bytes ? id.toLowerCase() : Buffer.from(id, "base64").toString("hex");
  return hex.length === 2 * bytes && /^[\da-f]+$/.test(hex) && !/^0+$/.test(hex) ? hex : undefined;
}
