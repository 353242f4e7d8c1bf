import { nameRedactor } from "./names.ts";
import { type Finder, type Redact, redactorOf } from "./redact.ts";

/** The redactors for everything that is sent, stored or shown. */
export interface Protection {
  /** For everything that is sent or stored: secrets, and personal data according to the settings. */
  readonly redact: Redact;
  /** `redact` for everything that is not content: it also removes user names and account numbers. */
  readonly redactName: Redact;
  /** Secrets only: for the log, where paths must stay readable, and for values that the user set. */
  readonly redactSecrets: Redact;
}

export interface RedactionSettings {
  readonly emails: boolean;
  readonly homeDirectories: boolean;
  readonly rules: Readonly<Record<string, string>>;
}

/**
 * @param home of this user, absolute
 * @throws RuleError if a user's rule is invalid; the caller must then send nothing
 */
export async function protectionOf(settings: RedactionSettings, home: string): Promise<Protection> {
  const own = await userRuleFinders(settings.rules);
  const redact = redactorOf({ emails: settings.emails, homeDirectories: settings.homeDirectories, home, own });
  return {
    redact,
    redactName: nameRedactor(redact, settings.homeDirectories),
    redactSecrets: redactorOf({ emails: false, homeDirectories: false, own }),
  };
}

/** A user's rule that the RE2 engine rejects. */
export class RuleError extends Error {
  readonly code = "E_REDACTION";
}

/**
 * Compiles the user's own rules with RE2, which needs linear time for any pattern. The whole match of a rule is redacted. The
 * engine is loaded only if there are rules.
 *
 * @param rules patterns by rule name; the marker contains this name
 * @throws RuleError that names the rule, never its pattern, which can contain the secret
 */
export async function userRuleFinders(rules: Readonly<Record<string, string>>): Promise<readonly Finder[]> {
  const entries = Object.entries(rules);
  if (entries.length === 0) return [];
  const { RE2JS } = await import("re2js");
  return entries.map(([id, pattern]) => {
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
