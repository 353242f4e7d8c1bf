import { delimiter, isAbsolute } from "node:path";
import { PRICE_PROVIDERS, TABLE_IDS } from "#core/model/price-providers.ts";
import { ruleProblem } from "#core/rules/redaction.ts";
import { isLoopback } from "#kit/loopback.ts";
import { hint } from "#kit/nearest.ts";
import { HEADER_NAME, HEADER_VALUE } from "./headers.ts";

/** Says why a text is refused, as the end of a sentence that begins with the setting; `undefined` if it is accepted. */
interface Format {
  (text: string): string | undefined;
  /** Where one regular expression decides: for the JSON Schema. */
  readonly pattern?: RegExp;
}

/** What texts in settings may contain. Plain code, because loading zod would take every drain longer than reading the settings. */
const FORMATS = {
  endpoint: endpointProblem,
  traceLink: (text) => endpointProblem(text) ?? (text.includes("{trace_id}") ? undefined : "must contain {trace_id}"),
  proxy: (text) =>
    text === "direct" || (/^https?:\/\//.test(text) && URL.canParse(text))
      ? undefined
      : 'must be "direct" or begin with http:// or https://',
  absolutePath: (text) => (isAbsolute(text) ? undefined : "must be an absolute path"),
  // Neither a JSON list nor ~ has a meaning here
  folders: (text) =>
    text.split(delimiter).every((folder) => folder === "" || isAbsolute(folder))
      ? undefined
      : `must contain absolute paths, separated by "${delimiter}"`,
  expression: ruleProblem,
  hosts: matching(
    /^\s*(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?:\s*,\s*(?:\*\.)?[\w-]+(?:\.[\w-]+)*)*\s*$/,
    'must contain host names without ports, separated by ",": "*." before a name stands for all names below it',
  ),
  headerName: matching(HEADER_NAME, "has an entry whose name HTTP does not allow for a header"),
  headerValue: matching(HEADER_VALUE, "holds a line break or another character that HTTP does not allow in a header"),
  priceProvider: (text) =>
    PRICE_PROVIDERS.includes(text) || TABLE_IDS.has(text)
      ? undefined
      : `must be a provider of the price table: deepseek, moonshotai, zhipuai, openrouter or another.${hint(text, PRICE_PROVIDERS)}`,
  ruleName: matching(
    /^[a-z0-9][a-z0-9-]{0,39}$/,
    "has an entry whose name is not lower-case letters, digits and dashes",
  ),
} satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

/** The rule of a format, as one type for all of them. */
export const formatOf = (name: FormatName): Format => FORMATS[name];

// --- internal ---

function matching(pattern: RegExp, problem: string): Format {
  return Object.assign((text: string) => (pattern.test(text) ? undefined : problem), { pattern });
}

/** An address without credentials. */
function endpointProblem(text: string): string | undefined {
  if (!/^https?:\/\//.test(text)) return howToWrite(text);
  if (!URL.canParse(text)) return "is not a complete address";
  const { username, password } = new URL(text);
  if (username === "" && password === "") return undefined;
  return 'holds a user or password; put it into "otlp.headers.authorization" instead';
}

/** What is wrong with an address without http:// or https://, with the text that was probably meant. */
function howToWrite(text: string): string {
  const must = "must begin with http:// or https://";
  const bare = text.trim().replace(/^(["'`])(.*)\1$/s, "$2");
  if (/^(?:\w+\+)?unix:|^\/|\.sock\b/i.test(bare)) {
    return `${must}: Unix sockets are not supported, so let the receiver listen on 127.0.0.1 too`;
  }
  if (bare !== text && /^https?:\/\//.test(bare)) return `${must}: remove the quotes or spaces around the address`;
  const [, host, port] = /^([\w.-]+|\[[\da-f:]+\])(?::(\d+))?(?:\/\S*)?$/i.exec(bare) ?? [];
  if (host === undefined) return must;
  if (isLoopback(host)) return `${must}: write http://${bare}`;
  // Collectors have no TLS unless somebody sets it up. Any other name may be of the internet, where http would expose the credentials
  const isCollector = port === "4317" || port === "4318" || /^[\w-]+$/.test(host);
  return isCollector
    ? `${must}: write http://${bare}, or https://${bare} if it uses TLS`
    : `${must}: write https://${bare}`;
}
