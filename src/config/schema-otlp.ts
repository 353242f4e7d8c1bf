import * as z from "zod";
import type { OtlpSignal } from "#core/model/settings.ts";
import { type FormatName, formatOf } from "./formats.ts";

/** What a setting's type cannot express: its unit, whether it is secret, and whether only files of the user or administrator set it. */
export const about = z.registry<{
  readonly unit?: string;
  readonly secret?: boolean;
  readonly filesOnly?: boolean;
  readonly format?: FormatName;
}>();

/** A text of one format. */
export function text(format: FormatName): z.ZodString {
  const { pattern } = formatOf(format);
  const base = pattern === undefined ? z.string() : z.string().regex(pattern);
  const checked = base.superRefine((value, issue) => {
    const why = formatOf(format)(value);
    if (why !== undefined) issue.addIssue(why);
  });
  return checked.register(about, { format });
}

/** An address without credentials. */
export const endpoint = text("endpoint");
const protocol = z.enum(["http/protobuf", "http/json", "grpc"]);
const compression = z.enum(["gzip", "none"]);
// Ten minutes: a drain that waits longer for one response is stuck
const timeoutMs = z.int().min(1).max(600_000);
/** A path of a file. */
export const path = z.string().min(1);
/** Headers by name. */
export const headers = z.record(text("headerName"), text("headerValue"));

// What provides headers is only set in files: a variable that an agent has can come from a repository, and so can a relative path
const headersCommand = (what: string) =>
  z.string().min(1).optional().describe(what).register(about, { filesOnly: true });
const headersFile = (what: string) =>
  text("absolutePath").min(1).optional().describe(what).register(about, { filesOnly: true });

/** Settings of all signals. */
const general = {
  endpoint: endpoint
    .optional()
    .describe(
      "Base address; for HTTP, /v1/traces, /v1/metrics and /v1/logs are appended. Without an endpoint no data leaves this machine.",
    ),
  protocol: protocol
    .default("http/protobuf")
    .describe("Encoding of requests over HTTP, or grpc, usually on port 4317."),
  headers: headers
    .default({})
    .describe("Headers of every request (metadata of gRPC), e.g. authorization. Names are case-insensitive.")
    .register(about, { secret: true }),
  headersCommand: headersCommand(
    "Command that prints headers as a JSON object, for tokens that expire; see below. They win over otlp.headers.",
  ),
  headersFile: headersFile("File with headers, as a JSON object or one `name: value` per line; see below."),
  compression: compression.default("gzip").describe("Compression of the request body."),
  timeoutMs: timeoutMs
    .default(10_000)
    .describe("Time limit of one request, including the connection, in milliseconds.")
    .register(about, { unit: "ms" }),
  proxy: text("proxy")
    .optional()
    .describe(
      "Address of an HTTP proxy for exports, or direct. Otherwise HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY apply.",
    ),
  certificate: path.optional().describe("PEM file with the certificate authority to trust for https."),
  clientCertificate: path.optional().describe("PEM file with the client certificate for mutual TLS."),
  clientKey: path.optional().describe("PEM file with the private key of the client certificate."),
};

/** Settings of one signal. */
const own = (signal: OtlpSignal) => ({
  enabled: z.boolean().default(true).describe(`Whether ${signal} are exported.`),
  endpoint: endpoint
    .optional()
    .describe(`Full address for ${signal}, used unchanged; otherwise otlp.endpoint + /v1/${signal}.`),
  protocol: protocol.optional().describe(`Protocol of ${signal}; otherwise otlp.protocol.`),
  headers: headers
    .default({})
    .describe(`HTTP headers for ${signal} only, in addition to otlp.headers.`)
    .register(about, { secret: true }),
  headersCommand: headersCommand(`Command that prints headers for ${signal}; otherwise otlp.headersCommand.`),
  headersFile: headersFile(`File with headers for ${signal}; otherwise otlp.headersFile.`),
  compression: compression.optional().describe(`Compression of ${signal}; otherwise otlp.compression.`),
  timeoutMs: timeoutMs
    .optional()
    .describe(`Time limit of one request with ${signal}, in milliseconds; otherwise otlp.timeoutMs.`)
    .register(about, { unit: "ms" }),
  certificate: path.optional().describe(`Certificate authority for ${signal}; otherwise otlp.certificate.`),
  clientCertificate: path.optional().describe(`Client certificate for ${signal}; otherwise otlp.clientCertificate.`),
  clientKey: path.optional().describe(`Key of the client certificate for ${signal}; otherwise otlp.clientKey.`),
});

/** Where everything is exported to. */
export const otlp = z
  .strictObject({
    ...general,
    traces: z.strictObject(own("traces")).prefault({}).describe("Overrides for traces."),
    metrics: z
      .strictObject({
        ...own("metrics"),
        temporality: z
          .enum(["cumulative", "delta"])
          .default("cumulative")
          .describe(
            "cumulative: totals since the start of each series (for Prometheus); delta: changes since the last export.",
          ),
      })
      .prefault({})
      .describe("Overrides for metrics."),
    logs: z.strictObject(own("logs")).prefault({}).describe("Overrides for log records, see logs."),
    maxSpansPerRequest: z
      .int()
      .min(1)
      .max(10_000)
      .default(512)
      .describe("Maximum number of spans or log records in one request."),
    maxBytesPerRequest: z
      .int()
      .min(1_000)
      .max(50_000_000)
      .default(3_000_000)
      .describe("Maximum size of a request body before compression, in bytes.")
      .register(about, { unit: "bytes" }),
    concurrency: z.int().min(1).max(16).default(2).describe("Maximum number of concurrent requests."),
  })
  .prefault({})
  .describe("Where traces, metrics and log records are exported to.");
