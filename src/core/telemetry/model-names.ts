import type { MatchLogic, ModelInfo } from "@pydantic/genai-prices";

/**
 * Whether a name that the price table matched is one of that model. Many of the table's rules compare beginnings or parts of names, and a
 * newer model often begins with the name of an older one (`claude-sonnet-5-5`, `claude-sonnet-5`). A name counts if it is the model's id
 * or a name in its rules, or one of these with a date, or with what clouds add: regions, vendors, paths, versions.
 */
export function isNameOf({ id, match }: Pick<ModelInfo, "id" | "match">, name: string): boolean {
  const core = coreOf(name);
  return core === coreOf(id) || isAlias(match, name, core);
}

/** A name without the path that Amazon Bedrock, Vertex AI and Google's API put before it. */
export const withoutPath = (name: string): string => PATHS.reduce((rest, path) => rest.replace(path, ""), name.trim());

// --- internal ---

function isAlias(match: MatchLogic, name: string, core: string): boolean {
  if ("or" in match) return match.or.some((one) => isAlias(one, name, core));
  if ("and" in match) return match.and.some((one) => isAlias(one, name, core));
  // A pattern of whole names, such as the id with a date
  if ("regex" in match) return WHOLE.test(match.regex) && new RegExp(match.regex).test(name);
  return Object.values(match).some((text: string) => coreOf(text) === core);
}

/** From `^` to `$`, without anything that stands for any text. */
const WHOLE = /^\^(?!.*(?:\.[*+{]|\(\?!|\[\^|\\[wSDW])).*\$$/;

/** A name without the parts that do not make it another model. */
function coreOf(name: string): string {
  let core = withoutPath(name.toLowerCase());
  for (const added of BEFORE) core = core.replace(added, "");
  const isOfVendor = VENDOR.test(core);
  core = core.replace(VENDOR, "").replace(TUNED, "ft:$1");
  for (let before = ""; core !== before; ) {
    before = core;
    for (const added of AFTER) core = core.replace(added, "");
    if (isOfVendor) core = core.replace(BEDROCK_VERSION, "");
  }
  return ALIASES.get(core) ?? core;
}

const PATHS: readonly RegExp[] = [
  /^arn:aws[\w-]*:bedrock:[^/]*\//,
  /^(?:projects\/.*)?publishers\/[\w-]+\/models\//,
  /^models\//,
];

/** Vendors, clouds as gateways name them, and Bedrock's regions. */
const BEFORE: readonly RegExp[] = [
  /^(?:bedrock|vertex_ai|azure)\//,
  /^(?:anthropic|openai|google)\//,
  /^(?:global|regional|us|us-gov|eu|apac|au|ca|in|jp|sa)\.(?=[a-z]+\.)/,
];

/** `anthropic.claude-…` of Bedrock. */
const VENDOR = /^[a-z]+\.(?=[a-z])/;
/** `ft:model:organisation:name:id` of OpenAI. */
const TUNED = /^ft:([^:]+):.*$/;

const BEDROCK_VERSION = /(?:-v\d+)?(?::\d+)?$/;
const AFTER: readonly RegExp[] = [
  /-v\d+:\d+$/,
  // 20251001, 2025-10-01, 09-2025, 2512, 0905
  /[-@]20\d\d(-?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])$/,
  /(?<=-(?:exp|preview))-(?:0[1-9]|1[0-2])-(?:20)?\d\d$/,
  /-(?:2[3-9](?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/,
  // Vertex AI
  /@(?:default|latest|\d{3})$/,
  /-00\d$/,
  /-latest$/,
  // Claude Code's name for a model with its long context
  /\[1m\]$/,
  // Where a rule's text ends before the date
  /[-@]$/,
];

/** Other names with the same price. */
const ALIASES: ReadonlyMap<string, string> = new Map([["gemini-2.5-pro-preview", "gemini-2.5-pro"]]);
