import { ticketsOfBranch } from "#core/rules/change-facts.ts";
import type { Unpriced } from "./price.ts";

type Changes = NonNullable<Unpriced["changes"]>;

/** Adds the tickets that names of branches contain. */
export class BranchTickets {
  readonly #pattern: string;
  /** Whether a branch's name contains tickets, so that each name is searched once: most sessions are on few branches. */
  readonly #withTickets = new Map<string, boolean>();

  /** @param pattern as in `changes.ticketPattern` */
  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  addTo(changes: Changes): Changes {
    const tickets = changes.flatMap((one) => {
      if (one.kind !== "change" || one.how !== "transcript") return [];
      if (this.#withTickets.get(one.change) === false) return [];
      const found = ticketsOfBranch(one, this.#pattern);
      this.#withTickets.set(one.change, found.length > 0);
      return found;
    });
    return tickets.length === 0 ? changes : [...changes, ...tickets];
  }
}
