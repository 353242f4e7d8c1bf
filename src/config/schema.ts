import { delimiter, isAbsolute } from "node:path";
import * as z from "zod";
import { CAPTURE_LEVELS } from "../model/capture.ts";
import { ruleProblem } from "../model/redaction.ts";
import type { OtlpSignal } from "../model/settings.ts";

/** What a setting's type cannot express: its unit, and whether it is secret. */
export const about = z.registry<{ readonly unit?: string; readonly secret?: boolean }>();

const endpoint = z
  .string()
  .regex(/^https?:\/\//, "must begin with http:// or https://")
  .superRefine((text, issue) => {
    if (!URL.canParse(text)) return issue.addIssue("is not a complete address");
    const url = new URL(text);
    if (url.username !== "" || url.password !== "") {
      issue.addIssue('holds a user or password; put it into "otlp.headers.authorization" instead');
    }
  });
const protocol = z.enum(["http/protobuf", "http/json"]);
const compression = z.enum(["gzip", "none"]);
// Ten minutes: a drain that waits longer for one response is stuck
const timeoutMs = z.int().min(1).max(600_000);
const path = z.string().min(1);
const folders = z.string().superRefine((text, issue) => {
  const named = text.split(delimiter).filter((folder) => folder !== "");
  // Neither a JSON list nor ~ has a meaning here
  if (!named.every(isAbsolute)) issue.addIssue(`must hold absolute paths, with "${delimiter}" between them`);
});
// What node:http accepts; anything else would only throw at the first request
const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, "holds a line break or a control character"),
);

const general = {
  endpoint: endpoint
    .optional()
    .describe("Base address; /v1/traces and /v1/metrics are appended. Without one nothing leaves this machine."),
  protocol: protocol.default("http/protobuf").describe("Encoding of what is sent over HTTP."),
  headers: headers
    .default({})
    .describe("HTTP headers of every request, e.g. authorization. Names in any case.")
    .register(about, { secret: true }),
  compression: compression.default("gzip").describe("Compression of the request body."),
  timeoutMs: timeoutMs
    .default(10_000)
    .describe("How long one request may take, connection included, in milliseconds.")
    .register(about, { unit: "ms" }),
  certificate: path.optional().describe("PEM file with the certificate authority to trust for https."),
  clientCertificate: path.optional().describe("PEM file with the client certificate for mutual TLS."),
  clientKey: path.optional().describe("PEM file with the private key of the client certificate."),
};

const own = (signal: OtlpSignal) => ({
  enabled: z.boolean().default(true).describe(`Whether ${signal} are sent at all.`),
  endpoint: endpoint
    .optional()
    .describe(`Full address for ${signal}, used as it is; else otlp.endpoint + /v1/${signal}.`),
  protocol: protocol.optional().describe(`Encoding of ${signal}; else otlp.protocol.`),
  headers: headers
    .default({})
    .describe(`HTTP headers for ${signal} alone, on top of otlp.headers.`)
    .register(about, { secret: true }),
  compression: compression.optional().describe(`Compression of ${signal}; else otlp.compression.`),
  timeoutMs: timeoutMs
    .optional()
    .describe(`Time limit of one request with ${signal}, in milliseconds; else otlp.timeoutMs.`)
    .register(about, { unit: "ms" }),
  certificate: path.optional().describe(`Certificate authority for ${signal}; else otlp.certificate.`),
  clientCertificate: path.optional().describe(`Client certificate for ${signal}; else otlp.clientCertificate.`),
  clientKey: path.optional().describe(`Key of the client certificate for ${signal}; else otlp.clientKey.`),
});

const ruleOfRedaction = z
  .string()
  .min(1)
  .superRefine((pattern, issue) => {
    const why = ruleProblem(pattern);
    if (why !== undefined) issue.addIssue(why);
  });

/**
 * All settings with their defaults; `Config.parse({})` is the configuration without any settings. The only list: variables, `config`'s
 * table, checks, docs/settings.md and the JSON Schema are derived from it.
 */
export const Config = z.strictObject({
  otlp: z
    .strictObject({
      ...general,
      traces: z.strictObject(own("traces")).prefault({}).describe("What differs for traces."),
      metrics: z
        .strictObject({
          ...own("metrics"),
          temporality: z
            .enum(["cumulative", "delta"])
            .default("cumulative")
            .describe("cumulative: totals since the start of each series (Prometheus); delta: what is new."),
        })
        .prefault({})
        .describe("What differs for metrics."),
      maxSpansPerRequest: z.int().min(1).max(10_000).default(512).describe("Spans in one request at most."),
      maxBytesPerRequest: z
        .int()
        .min(1_000)
        .max(50_000_000)
        .default(3_000_000)
        .describe("Size of one request's body at most, before compression, in bytes.")
        .register(about, { unit: "bytes" }),
      concurrency: z.int().min(1).max(16).default(2).describe("Requests under way at once."),
    })
    .prefault({})
    .describe("Where traces and metrics are sent."),
  outbox: z
    .strictObject({
      maxAgeDays: z
        .int()
        .min(1)
        .max(3650)
        .default(30)
        .describe("How long spans wait for a backend, in days; older ones are not sent any more, and counted.")
        .register(about, { unit: "days" }),
      maxMegabytes: z
        .int()
        .min(1)
        .max(100_000)
        .default(500)
        .describe("How much may wait for a backend, in megabytes; beyond it the oldest are not sent, and counted.")
        .register(about, { unit: "MB" }),
      maxSpansPerSecond: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(2_000)
        .describe("How fast what waits is sent, so that a backend that was away is not flooded.")
        .register(about, { unit: "spans/s" }),
      maxDeliveryMs: z
        .int()
        .min(1_000)
        .max(3_600_000)
        .default(60_000)
        .describe("How long one drain sends; the next one goes on where it stopped.")
        .register(about, { unit: "ms" }),
    })
    .prefault({})
    .describe("What waits for the backend."),
  resource: z
    .strictObject({
      attributes: z
        .record(z.string().min(1), z.string())
        .default({})
        .describe("Attributes of everything that is sent, e.g. deployment.environment.name."),
      serviceName: z
        .string()
        .min(1)
        .optional()
        .describe(
          "service.name of everything that is sent; else the agent's name, e.g. claude-code. Counters then name it in openhook.source.",
        ),
    })
    .prefault({})
    .describe("Who sends."),
  session: z
    .strictObject({
      idleTimeoutMs: z
        .int()
        .min(1)
        .default(1_800_000)
        .describe("A session without any event for this long is ended by us, in milliseconds.")
        .register(about, { unit: "ms" }),
    })
    .prefault({})
    .describe("When a session is over."),
  transcripts: z
    .strictObject({
      folders: folders
        .optional()
        .describe("Further folders that transcripts may be read from, absolute, parted as in PATH."),
    })
    .prefault({})
    .describe("Where agents keep their sessions, beside their usual places."),
  traces: z
    .strictObject({
      scope: z
        .enum(["session", "turn"])
        .default("session")
        .describe("One trace for each session, or one for each turn (for very long sessions)."),
    })
    .prefault({})
    .describe("How traces are cut."),
  semconv: z
    .enum(["both", "latest", "v1.41"])
    .default("both")
    .describe("Which names of the GenAI conventions are sent; both: the latest plus the older spellings on spans."),
  capture: z
    .enum(CAPTURE_LEVELS)
    .default("metadata")
    .describe(
      "What is kept of what agents tell: none (figures alone), metadata (names as well), redacted (content with secrets taken out) or full.",
    ),
  captureMaxBytes: z
    .int()
    .min(256)
    .max(1_048_576)
    .default(16_384)
    .describe("How much of one prompt, argument, result or answer is kept, in bytes; of interest above metadata.")
    .register(about, { unit: "bytes" }),
  redaction: z
    .strictObject({
      emails: z.boolean().default(true).describe("Whether e-mail addresses are taken out as well."),
      homeDirectories: z.boolean().default(true).describe("Whether names of users are taken out of paths as well."),
      rules: z
        .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/), ruleOfRedaction)
        .default({})
        .describe(
          "Further patterns (RE2) by name; what one matches becomes [redacted:<name>]. None is ever switched off.",
        ),
    })
    .prefault({})
    .describe("What is taken out of everything that leaves, and of content before it is kept."),
  identity: z
    .strictObject({
      user: z
        .enum(["none", "hash", "plain"])
        .default("none")
        .describe("Whether what is sent says who: not at all, as a pseudonym (user.hash), or by address or name."),
      salt: z
        .string()
        .min(16)
        .optional()
        .describe(
          "Secret that pseudonyms are made with; the same on all machines of a team joins them. Else random, per machine.",
        )
        .register(about, { secret: true }),
    })
    .prefault({})
    .describe("Who works here."),
  reconcile: z
    .strictObject({
      prometheus: endpoint.optional().describe("Prometheus that reconcile asks, e.g. http://127.0.0.1:9090."),
      jaeger: endpoint.optional().describe("Jaeger that reconcile asks, e.g. http://127.0.0.1:16686."),
      tempo: endpoint.optional().describe("Tempo that reconcile asks, e.g. http://127.0.0.1:3200."),
    })
    .prefault({})
    .describe("Who is asked for what arrived; nothing is sent there."),
  selfTelemetry: z
    .boolean()
    .default(true)
    .describe("Whether metrics about this program itself are sent, to the same address as all others."),
  store: z
    .strictObject({
      retentionDays: z
        .int()
        .min(1)
        .max(36_500)
        .default(90)
        .describe("How long a session stays in the store after its last activity, in days; counters keep their sums.")
        .register(about, { unit: "days" }),
    })
    .prefault({})
    .describe("What is kept on this machine."),
  disabled: z
    .boolean()
    .default(false)
    .describe("Sends nothing to any backend. What agents tell is still kept on this machine."),
});
export type Config = z.infer<typeof Config>;

/** The file: every setting is optional. */
export const ConfigFile = Config.extend({
  $schema: z.string().optional().describe("For editors; no setting."),
}).describe("Settings of openhook-otel. Comments and trailing commas are allowed.");
