import { redact } from "#core/privacy/redact.ts";
import { FORMS, ORDINARY } from "./forms.ts";
import { samplesOf } from "./patterns.ts";
import { randomText } from "./secrets.ts";

// What redaction finds in a fixed corpus, and what it takes for a secret by mistake. docs/privacy.md has the figures.

export interface Recall {
  readonly forms: string;
  readonly tried: number;
  /** The names of those that stay readable. */
  readonly missed: readonly string[];
}

/** Formats of secrets that others maintain, by name: patterns of the whole secret. In `formats/formats.json`. */
export type Formats = Readonly<Record<string, string>>;

/** Each format and form is tried with several secrets; it is found if all of them are. */
export function recall(known: Formats): readonly Recall[] {
  const ofFormats = Object.entries(known).filter(([, pattern]) =>
    samplesOf(pattern, [20, 60, 60], 11).some((secret) => isLeft(redact(`value: ${secret} of x\n`), secret)),
  );
  const formats = {
    forms: "formats with a prefix, of Betterleaks",
    tried: Object.keys(known).length,
    missed: ofFormats.map(([name]) => name),
  };
  const forms = Object.entries(FORMS).map(([kind, all]) => ({
    forms: kind,
    tried: Object.keys(all).length,
    missed: Object.entries(all)
      .filter(([name, form]) =>
        [1, 2, 3].some((n) => {
          const secret = `Zz9k${randomText("word", 12, `${kind}/${name}/${n}`)}`;
          return isLeft(redact(form(secret)), secret);
        }),
      )
      .map(([name]) => name),
  }));
  return [formats, ...forms];
}

/** Ordinary texts that do not stay as they are. */
export const falsePositives = (): readonly string[] => ORDINARY.filter((text) => redact(text) !== text);

/** The part of docs/privacy.md between its marks. */
export function recallText(known: Formats): string {
  const rows = recall(known).map(({ forms, tried, missed }) => `| ${forms} | ${tried} | ${tried - missed.length} |`);
  return [
    "| forms of invented secrets | tried | redacted |",
    "| --- | --- | --- |",
    ...rows,
    "",
    `Of ${ORDINARY.length} ordinary texts about passwords, tokens and keys, ${falsePositives().length} are changed by mistake.`,
  ].join("\n");
}

// --- internal ---

/** Half of a secret, in its middle: what is in front of it can be a prefix that everybody knows. */
function isLeft(clean: string, secret: string): boolean {
  const half = Math.max(6, Math.floor(secret.length / 2));
  const middle = secret.slice(Math.floor((secret.length - half) / 2)).slice(0, half);
  return [middle, middle.toUpperCase()].some((piece) => clean.includes(piece));
}
