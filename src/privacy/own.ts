import type { Finder } from "./redact.ts";

/** A rule of the user's that the engine refuses. */
export class RuleError extends Error {
  readonly code = "E_REDACTION";
}

/**
 * The user's own rules, in RE2: whatever the pattern, a text is read in linear time. What a rule matches goes, all of it.
 * The engine is loaded only where there are rules.
 *
 * @param rules patterns by the name that stands in the marker
 * @throws RuleError naming the rule; never its pattern's text, which can hold what is to be kept secret
 */
export async function ownFinders(rules: Readonly<Record<string, string>>): Promise<readonly Finder[]> {
  const given = Object.entries(rules);
  if (given.length === 0) return [];
  const { RE2JS } = await import("re2js");
  return given.map(([id, pattern]) => {
    try {
      const compiled = RE2JS.compile(pattern);
      return {
        id,
        *find(text: string) {
          const matcher = compiled.matcher(text);
          while (matcher.find()) yield [matcher.start(), matcher.end()] as const;
        },
      };
    } catch (error) {
      throw new RuleError(
        `redaction.rules.${id}: RE2 refuses the pattern; nothing is taken in or sent until this is mended`,
        {
          cause: error,
        },
      );
    }
  });
}
