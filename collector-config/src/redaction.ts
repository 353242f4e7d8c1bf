import { otlpSettings } from "#config/otlp.ts";
import { Config } from "#config/schema.ts";
import { userAttributes } from "#core/privacy/identity.ts";
import { EMAIL_RULE, HOME_RULES, type Rule, re2, SECRET_RULES } from "#core/privacy/rules.ts";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { OVERFLOW } from "#store/cardinality.ts";

/** The settings of a `redaction` processor that we use. */
export interface Redaction {
  readonly allow_all_keys: boolean;
  readonly allowed_keys?: readonly string[];
  readonly ignored_keys?: readonly string[];
  readonly ignored_key_patterns?: readonly string[];
  readonly allowed_values?: readonly string[];
  readonly blocked_values?: readonly string[];
  readonly redact_all_types: boolean;
  readonly summary: "silent" | "info";
}

/** The processors of the second redaction, by the names in `gateway.yaml`. */
export function redactionProcessors(): Readonly<Record<string, Redaction>> {
  return {
    "redaction/keys": {
      allow_all_keys: false,
      allowed_keys: [...allowedKeys()],
      ignored_key_patterns: [OWN_KEYS],
      redact_all_types: false,
      summary: "silent",
    },
    "redaction/secrets": {
      allow_all_keys: true,
      allowed_values: HARMLESS_VALUES.map(escaped),
      blocked_values: SECRET_RULES.map(patternOf),
      redact_all_types: true,
      summary: "silent",
    },
    "redaction/people": {
      allow_all_keys: true,
      ignored_keys: ["user.email"],
      allowed_values: HARMLESS_VALUES.map(escaped),
      blocked_values: [EMAIL_RULE, ...HOME_RULES].map(patternOf),
      redact_all_types: true,
      summary: "silent",
    },
  };
}

/** The file `redaction.yaml`: the same with comments. */
export function redactionYaml(): string {
  const { "redaction/keys": keys, "redaction/secrets": secrets, "redaction/people": people } = redactionProcessors();
  return `${[
    "# Written by scripts/collector-redaction.mjs from src/core/telemetry/semconv.ts and src/core/privacy/rules.ts. Do not edit.",
    "# What the gateway allows; gateway.yaml has the order. Fails closed: names that are not listed are removed.",
    "processors:",
    "  # Attributes by name, anywhere: resource, scope, span, event, metric point",
    "  redaction/keys:",
    "    allow_all_keys: false",
    "    # Your own attributes (OTEL_RESOURCE_ATTRIBUTES, resource.attributes, .openhook-otel.json): an RE2 expression for their",
    "    # complete names, e.g. OPENHOOK_ALLOWED_KEYS='squad|billing\\..+'. Their values are checked below like all others.",
    `    ignored_key_patterns: [${quoted(OWN_KEYS)}]`,
    "    redact_all_types: false",
    "    # Removed names are not listed: the name itself may be secret",
    "    summary: silent",
    "    allowed_keys:",
    ...(keys?.allowed_keys ?? []).map((key) => `      - ${key}`),
    "",
    "  # Values that look like secrets, by the same rules as on the developers' machines",
    "  redaction/secrets:",
    "    allow_all_keys: true",
    "    # Lists and numbers too; by default they are not checked. A number stays a number unless it is masked.",
    "    redact_all_types: true",
    "    summary: silent",
    "    # Checked first; matches most values: numbers, ids and words too short for a secret. Saves most of the time.",
    "    allowed_values:",
    ...(secrets?.allowed_values ?? []).map((pattern) => `      - ${quoted(pattern)}`),
    "    blocked_values:",
    ...SECRET_RULES.flatMap((rule, i) => [
      ...(rule.id === SECRET_RULES[i - 1]?.id ? [] : [`      # ${rule.id}`]),
      `      - ${quoted(patternOf(rule))}`,
    ]),
    "",
    "  # E-mail addresses and user names in paths. If removed from the pipelines of gateway.yaml, they pass.",
    "  redaction/people:",
    "    allow_all_keys: true",
    "    redact_all_types: true",
    "    summary: silent",
    "    # Sent by machines whose user set identity.user to plain; secrets in it are masked above",
    `    ignored_keys: [${people?.ignored_keys?.join(", ") ?? ""}]`,
    "    allowed_values:",
    ...(people?.allowed_values ?? []).map((pattern) => `      - ${quoted(pattern)}`),
    "    blocked_values:",
    ...(people?.blocked_values ?? []).map((pattern) => `      - ${quoted(pattern)}`),
  ].join("\n")}\n`;
}

/** Allowed names: everything that this program emits except content, and common resource attributes. */
export function allowedKeys(): readonly string[] {
  const emitted = Object.values(semconv).flatMap((name) => (typeof name === "string" ? [name] : Object.values(name)));
  const names = emitted.filter((name) => !CONTENT_ATTRIBUTES.has(name));
  return [...new Set([...names, ...resourceKeys(), ...Object.keys(OVERFLOW), ...CUSTOMARY, ...CARRIED])].sort();
}

/**
 * Attributes to which `gateway.yaml` copies texts that no redaction processor checks: names of spans, events and scopes, and
 * status messages.
 */
export const CARRIED = ["openhook.gateway.name", "openhook.gateway.text"] as const;

/** Forms of values that no rule can match: numbers, UUIDs and digests, short words. */
export const HARMLESS_VALUES = [
  "^[0-9.+-]{1,24}$",
  "^[0-9a-f]{7,64}$",
  "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
  // The shortest secret with a prefix has 15 characters
  "^[A-Za-z][A-Za-z0-9_.-]{0,13}$",
] as const;

// --- internal ---

/** Empty by default: then it matches no name. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the Collector's own
const OWN_KEYS = "^(?:${env:OPENHOOK_ALLOWED_KEYS:-})$$";

/** Set by users, and used by dashboards for grouping. */
const CUSTOMARY = ["deployment.environment", "deployment.environment.name", "host.name", "team", "department"];

function resourceKeys(): readonly string[] {
  const identity = { version: "", instanceId: "", os: "linux", arch: "x64" } as const;
  const person = { email: "dev@example.com", name: "dev" };
  return [
    ...Object.keys(otlpSettings(Config.parse({}), identity).resource),
    ...Object.keys(userAttributes("hash", person, "key")),
    ...Object.keys(userAttributes("plain", person, "key")),
    ...Object.keys(userAttributes("plain", { name: person.name }, "key")),
  ];
}

/** `$` begins a variable in a Collector's configuration. */
const escaped = (pattern: string): string => pattern.replaceAll("$", "$$$$");

const patternOf = (rule: Rule): string => escaped(re2(rule));

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
