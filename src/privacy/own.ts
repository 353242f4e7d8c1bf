import type { Finder } from "./redact.ts";

/** A rule of the user that the engine refuses. */
export class RuleError extends Error {
  readonly code = "E_REDACTION";
}

/**
 * The user's own rules, in RE2, which reads a text in linear time for any pattern. The whole match of a rule is redacted. The
 * engine is loaded only if there are rules.
 *
 * @param rules rule name, as it appears in the marker → pattern
 * @throws RuleError that names the rule, never its pattern, which can contain the secret
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
        `redaction.rules.${id}: RE2 refuses the pattern; nothing is collected or exported until this is fixed`,
        {
          cause: error,
        },
      );
    }
  });
}
