import { byLongestName } from "./price.ts";

/** Which work flat plans cover, as the user says, and the home folder that the names of folders begin at. */
export interface Plans {
  /** A plan's name, by an agent's id, a model's name or its beginning with `*`, or a folder of configuration. */
  readonly of: ReadonlyMap<string, string>;
  readonly home: string | undefined;
}

/** Sets the plans for this process. Called at the start of commands that sum up costs. */
export function setPlans(names: Readonly<Record<string, string>>, home: string | undefined): void {
  const isBelow = (name: string): boolean =>
    home !== undefined && name.startsWith(home) && /^[\\/]./.test(name.slice(home.length));
  const of = new Map(
    Object.entries(names).map(([name, plan]) => [isBelow(name) ? `~${name.slice(home?.length)}` : name, plan]),
  );
  current = of.size === 0 ? undefined : { of, home };
}

/** The current ones; `undefined`: none are set. */
export const plansInUse = (): Plans | undefined => current;

/** The plan that covers a call: that of its folder of configuration, else of its model, else of its agent. `undefined`: none does. */
export function planOf(
  { of }: Plans,
  call: { readonly agent: string; readonly model: string | null; readonly configFolder?: string | null | undefined },
): string | undefined {
  const ofFolder = call.configFolder == null ? undefined : of.get(call.configFolder);
  return ofFolder ?? (call.model === null ? undefined : byLongestName(of, call.model)) ?? of.get(call.agent);
}

// --- internal ---

let current: Plans | undefined;
