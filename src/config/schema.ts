import * as z from "zod";
import { CAPTURE_LEVELS } from "#core/model/capture.ts";
import { ENVELOPE_TEXTS } from "#core/model/envelope-types.ts";
import { about, endpoint, headers, otlp, path, text } from "./schema-otlp.ts";
import { FORWARD_PROTOCOLS } from "./setting.ts";

export { about };

/** In whole US dollars. */
const amount = z.int().min(1).max(10_000_000);

/**
 * All settings with their defaults; `Config.parse({})` is the configuration without any settings. The only list: variables, `config`'s
 * table, checks, docs/settings.md and the JSON Schema are derived from it.
 */
export const Config = z.strictObject({
  otlp,
  outbox: z
    .strictObject({
      maxAgeDays: z
        .int()
        .min(1)
        .max(3650)
        .default(30)
        .describe(
          "How long spans stay queued for a backend, in days; older ones are dropped from the queue and counted.",
        )
        .register(about, { unit: "days" }),
      maxMegabytes: z
        .int()
        .min(1)
        .max(100_000)
        .default(500)
        .describe(
          "Maximum size of the queue, in megabytes; beyond it the oldest spans are dropped from the queue and counted.",
        )
        .register(about, { unit: "MB" }),
      maxSpansPerSecond: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(2_000)
        .describe("Rate limit for queued spans, so that a backend that was unreachable is not flooded.")
        .register(about, { unit: "spans/s" }),
      maxDeliveryMs: z
        .int()
        .min(1_000)
        .max(3_600_000)
        .default(60_000)
        .describe("Time limit for the export of one drain; the next one continues where it stopped.")
        .register(about, { unit: "ms" }),
    })
    .prefault({})
    .describe("The queue of spans for the backend."),
  resource: z
    .strictObject({
      attributes: z
        .record(z.string().min(1), z.string())
        .default({})
        .describe("Resource attributes of all exported data, e.g. deployment.environment.name."),
      serviceName: z
        .string()
        .min(1)
        .optional()
        .describe(
          "service.name of all exported data; otherwise the agent's name, e.g. claude-code. If set, counters have the agent's name in openhook.source.",
        ),
    })
    .prefault({})
    .describe("Resource of the exported data."),
  session: z
    .strictObject({
      idleTimeoutMs: z
        .int()
        .min(1)
        .default(1_800_000)
        .describe("A session without events for this long counts as ended, in milliseconds.")
        .register(about, { unit: "ms" }),
    })
    .prefault({})
    .describe("When a session counts as ended."),
  transcripts: z
    .strictObject({
      folders: text("folders")
        .optional()
        .describe("Additional folders that transcripts may be read from: absolute paths, separated as in PATH."),
    })
    .prefault({})
    .describe("Where agents keep their sessions, in addition to the default folders."),
  traces: z
    .strictObject({
      scope: z
        .enum(["session", "turn"])
        .default("session")
        .describe("One trace for each session, or one for each turn (for very long sessions)."),
    })
    .prefault({})
    .describe("How sessions are split into traces."),
  logs: z
    .enum(["off", "events"])
    .default("off")
    .describe(
      "Whether the events of sessions are exported as log records too: prompts, calls, decisions, errors, compactions and ends, see docs/logs.md.",
    ),
  semconv: z
    .enum(["both", "latest", "v1.41"])
    .default("both")
    .describe(
      "Which version of the GenAI semantic conventions is exported; both: the latest, and on spans also the older names.",
    ),
  capture: z
    .enum(CAPTURE_LEVELS)
    .default("metadata")
    .describe(
      "How much of the agents' data is kept: none (only numbers), metadata (also names), redacted (also content, with secrets removed) or full.",
    ),
  captureMaxBytes: z
    .int()
    .min(256)
    .max(1_048_576)
    .default(16_384)
    .describe("Maximum size of a prompt, argument, result or answer that is kept, in bytes; only used above metadata.")
    .register(about, { unit: "bytes" }),
  redaction: z
    .strictObject({
      emails: z.boolean().default(true).describe("Whether e-mail addresses are redacted too."),
      homeDirectories: z.boolean().default(true).describe("Whether user names in paths are redacted too."),
      rules: z
        .record(text("ruleName"), text("expression").min(1))
        .default({})
        .describe(
          "Additional patterns (RE2) by name; matches are replaced by [redacted:<name>]. The built-in rules always apply.",
        ),
    })
    .prefault({})
    .describe("What is redacted in all exported data, and in content before it is stored."),
  identity: z
    .strictObject({
      user: z
        .enum(["none", "hash", "plain"])
        .default("none")
        .describe(
          "Whether exported data identifies the user: not at all, by a pseudonym (user.hash), or by e-mail address or name.",
        ),
      salt: z
        .string()
        .min(16)
        .optional()
        .describe(
          "Secret key for pseudonyms; the same key on several machines gives a user the same pseudonym. Otherwise random per machine.",
        )
        .register(about, { secret: true }),
    })
    .prefault({})
    .describe("Identity of the user."),
  reconcile: z
    .strictObject({
      prometheus: endpoint
        .optional()
        .describe("Prometheus that reconcile and digest --from query, e.g. http://127.0.0.1:9090."),
      jaeger: endpoint.optional().describe("Jaeger that reconcile queries, e.g. http://127.0.0.1:16686."),
      tempo: endpoint.optional().describe("Tempo that reconcile queries, e.g. http://127.0.0.1:3200."),
    })
    .prefault({})
    .describe("Backends that reconcile and digest query; no data is exported to them."),
  view: z
    .strictObject({
      hosts: text("hosts")
        .optional()
        .describe(
          "Host names of forwarded ports under which the page may be opened, besides localhost, separated by commas.",
        )
        .register(about, { filesOnly: true }),
      traceLink: text("traceLink")
        .optional()
        .describe(
          "Address of a trace in your backend, for links in view: {trace_id} and {span_id} are replaced. Otherwise reconcile.jaeger + /trace/{trace_id}, if set.",
        ),
    })
    .prefault({})
    .describe("The local page."),
  prices: z
    .strictObject({
      file: path
        .optional()
        .describe("JSON file with own prices of models, e.g. of a contract; they replace list prices, see below."),
      providers: z
        .record(z.string().min(1), text("priceProvider"))
        .default({})
        .describe(
          "Provider whose list prices apply to a model, by its name or its beginning with *, e.g. prices.providers.glm-* zhipuai; see below.",
        )
        .register(about, { filesOnly: true }),
      plans: z
        .record(z.string().min(1), z.string())
        .default({})
        .describe(
          "Name of the flat plan that covers an agent, a model or its beginning with *, or a folder of configuration, e.g. prices.plans.glm-* Coding; see below.",
        )
        .register(about, { filesOnly: true }),
    })
    .prefault({})
    .describe("Prices of model calls."),
  budget: z
    .strictObject({
      month: amount
        .optional()
        .describe(
          "What a calendar month may cost, in US dollars at list prices, e.g. 200. Shown with what is left, nothing is stopped.",
        )
        .register(about, { unit: "USD", filesOnly: true }),
      repositories: z
        .record(z.string().min(1), amount)
        .default({})
        .describe("The same for single repositories, by their name in report, e.g. budget.repositories.acme/api 50.")
        .register(about, { unit: "USD", filesOnly: true }),
    })
    .prefault({})
    .describe("Budgets, see docs/report.md."),
  changes: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("Whether ids of commits, pull requests, issues, tickets and branches of sessions are kept."),
      ticketPattern: text("expression")
        .min(1)
        .default("[A-Z][A-Z0-9]+-\\d+")
        .describe("Regular expression for ids of tickets in names of branches and trailers of commits."),
      outcomes: z
        .boolean()
        .default(true)
        .describe("Whether git is started once a day to find out what became of the commits, see docs/outcomes.md."),
    })
    .prefault({})
    .describe("Which commits, pull requests and tickets sessions led to, see docs/changes.md."),
  audit: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe("Whether an audit trail of what agents did is kept on this machine, see docs/audit.md."),
      keyFile: path
        .optional()
        .describe(
          "File with the key for digests in the audit trail, at least 32 characters; the same key on several machines gives equal digests. Otherwise random per machine.",
        ),
    })
    .prefault({})
    .describe("The audit trail: which agent ran which command, wrote which file and reached which address."),
  selfTelemetry: z
    .boolean()
    .default(true)
    .describe("Whether metrics about this program are exported, to the same address as all others."),
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
    .describe("What is stored on this machine."),
  display: z
    .strictObject({
      titles: z
        .boolean()
        .default(true)
        .describe(
          "Whether lists of sessions show a title. Its first prompt line is read from the agent's own file, never stored or sent.",
        ),
      content: z
        .enum(["on", "off"])
        .default("on")
        .describe(
          "Whether show, explain and the page read prompts, commands and answers from the agents' own files while you look; never stored or sent. off: no titles from prompts either.",
        ),
      pager: z
        .boolean()
        .default(true)
        .describe("Whether output that is longer than the terminal is shown in PAGER, or in less if there is one."),
      refresh: z
        .boolean()
        .default(true)
        .describe("Whether report, sessions, view and explain first import what is new on this machine."),
    })
    .prefault({})
    .describe("What commands and the page show on this machine."),
  openhook: z
    .strictObject({
      text: z
        .enum(ENVELOPE_TEXTS)
        .default("cwd")
        .describe(
          "Which text of OpenHook v0.1 envelopes are written in: cwd, or the newer one with context (a URI) and file.write.",
        ),
    })
    .prefault({})
    .describe("OpenHook envelopes that convert, show --envelopes and the bridge write."),
  bridge: z
    .strictObject({
      timeoutMs: z
        .int()
        .min(100)
        .max(600_000)
        .default(10_000)
        .describe("Time limit of one run of a command, in milliseconds; then it is killed and retried later.")
        .register(about, { unit: "ms" }),
      maxQueued: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(10_000)
        .describe("Maximum number of envelopes queued for one command; beyond it the oldest are dropped and counted."),
      maxAgeDays: z
        .int()
        .min(1)
        .max(365)
        .default(1)
        .describe("How long an envelope stays queued for a command, in days; older ones are dropped and counted.")
        .register(about, { unit: "days" }),
    })
    .prefault({})
    .describe("The commands of registration files that get every event as an envelope, see docs/bridge.md."),
  native: z
    .strictObject({
      forward: z
        .record(
          text("ruleName"),
          z.strictObject({ endpoint, headers: headers.optional(), protocol: z.enum(FORWARD_PROTOCOLS).optional() }),
        )
        .default({})
        .describe(
          "Where an agent's own telemetry is handed on unchanged, by the agent's name; enable --native --forward writes it.",
        )
        .register(about, { secret: true, filesOnly: true }),
    })
    .prefault({})
    .describe("The agents' own OpenTelemetry, see docs/native.md."),
  disabled: z
    .boolean()
    .default(false)
    .describe("Switches export off. Data is still collected and stored on this machine."),
});
export type Config = z.infer<typeof Config>;

/** The file: every setting is optional. */
const ConfigFile = Config.extend({
  $schema: z.string().optional().describe("For editors; not a setting."),
}).describe("Settings of openhook-otel. Comments and trailing commas are allowed.");

/** The administrator's file. */
const MachineFile = ConfigFile.extend({
  locked: z
    .array(z.string())
    .optional()
    .describe(
      "Settings, groups (otlp) and entries of maps that only this file decides; those without a value here keep their default.",
    ),
}).describe("Settings of openhook-otel for all users of this machine. Comments and trailing commas are allowed.");

/** JSON Schema (draft 2020-12) of the user's settings file, for editors and tools that write it. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(ConfigFile, { io: "input" });
  return { $schema: schema.$schema, title: "openhook-otel settings", ...schema };
}

/** JSON Schema of the administrator's file: the user's settings, and which of them are locked. */
export function machineJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(MachineFile, { io: "input" });
  return { $schema: schema.$schema, title: "openhook-otel settings for all users of a machine", ...schema };
}
