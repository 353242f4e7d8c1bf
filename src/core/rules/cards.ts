import { nearest } from "#kit/nearest.ts";
import type { Agent } from "../model/agent.ts";

interface Cards {
  readonly agents: readonly Agent[];
}

/** @returns the card of a source; `undefined` for other OpenHook senders, which have no card */
export const cardOf = ({ agents }: Cards, source: string): Agent | undefined =>
  agents.find((agent) => agent.source === source);

/** The card of a program that this one knows; `undefined` for any other OpenHook sender, also if it calls itself `openhook`. */
export const knownCardOf = (deps: Cards, source: string): Agent | undefined => {
  const card = cardOf(deps, source);
  return card?.isAnyProgram === true ? undefined : card;
};

/** How to read a source's transcripts: as its card says, or by their shape. `undefined`: they cannot be read. */
export const transcriptOf = (deps: Cards, source: string): Agent["transcript"] =>
  (knownCardOf(deps, source) ?? deps.agents.find(({ isAnyProgram }) => isAnyProgram === true))?.transcript;

/**
 * ` (did you mean X?)` for another name of an agent, the beginning of a name, a name with something added, or a typing error, also
 * in the first word: `clade` means claude-code, not cline. Otherwise empty.
 */
export function meantAgent(name: string, agents: readonly Named[]): string {
  const typed = kebab(name);
  const known = agents.map((agent) => ({ source: agent.source, names: namesOf(agent) }));
  const by = (matches: (name: string) => boolean): string | undefined =>
    known.find(({ names }) => names.some(matches))?.source;
  const meant =
    by((one) => one === typed) ??
    by((one) => typed.length > 2 && one.startsWith(typed)) ??
    by((one) => typed.startsWith(`${one}-`)) ??
    nearestBy(typed, known);
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}

/** The only agent whose source or title begins so; `undefined`: none, or several. */
export function agentWithPrefix(name: string, agents: readonly Named[]): string | undefined {
  const typed = kebab(name);
  const [only, another] = agents.filter(
    ({ source, title }) => typed !== "" && [source, kebab(title)].some((one) => one.startsWith(typed)),
  );
  return another === undefined ? only?.source : undefined;
}

/** The agent with this source, or the only one whose source or title begins so. */
export const agentNamed = <T extends Named>(name: string, agents: readonly T[]): T | undefined => {
  const source = agents.some((agent) => agent.source === name) ? name : agentWithPrefix(name, agents);
  return agents.find((agent) => agent.source === source);
};

// --- internal ---

type Named = Pick<Agent, "source" | "title" | "otherNames">;

interface Known {
  readonly source: string;
  readonly names: readonly string[];
}

/** The source first: it is what messages show. */
const namesOf = ({ source, title, otherNames = [] }: Named): readonly string[] => [source, kebab(title), ...otherNames];

const kebab = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");

/** The nearest name; of several sources with the same first word, the first. */
function nearestBy(typed: string, known: readonly Known[]): string | undefined {
  const firstWord = (id: string): string => id.split("-", 1)[0] ?? id;
  const words = known.map(({ source, names }) => ({ source, names: [...names, firstWord(source)] }));
  const word = nearest(
    typed,
    words.flatMap(({ names }) => names),
  );
  return word === undefined ? undefined : words.find(({ names }) => names.includes(word))?.source;
}
