import { ownFinders } from "./own.ts";
import { type Redact, redactorOf } from "./redact.ts";

/** What takes secrets out of what leaves, and of what is told on this machine. */
export interface Protection {
  /** For everything that leaves, and for what is kept: secrets, and who somebody is where the settings say so. */
  readonly redact: Redact;
  /** Secrets alone: for the log, where a path must stay one, and for what the user set. */
  readonly redactSecrets: Redact;
}

export interface RedactionSettings {
  readonly emails: boolean;
  readonly homeDirectories: boolean;
  readonly rules: Readonly<Record<string, string>>;
}

/**
 * @param home of this user, absolute
 * @throws RuleError when a rule of the user's cannot be used: better nothing than without it
 */
export async function protectionOf(settings: RedactionSettings, home: string): Promise<Protection> {
  const own = await ownFinders(settings.rules);
  return {
    redact: redactorOf({ emails: settings.emails, homeDirectories: settings.homeDirectories, home, own }),
    redactSecrets: redactorOf({ emails: false, homeDirectories: false, own }),
  };
}
