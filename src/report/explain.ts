import type { SessionSource } from "../sessions/read-session.ts";
import { unsettledSession } from "../sessions/read-session.ts";
import type { Database } from "../store/database.ts";
import { segmentsOf } from "../store/segments.ts";
import type { Totals } from "../telemetry/totals.ts";
import { type Habits, habitsOf } from "./explain-habits.ts";
import { type MoneySpent, moneySpent, placedCalls } from "./explain-money.ts";
import { type TimeSpent, timeSpent } from "./explain-time.ts";
import type { SessionView } from "./session-view.ts";

/** Where the minutes and the money of one session went. */
export interface Explanation {
  readonly view: SessionView;
  /** Absent before anything has happened. */
  readonly time: TimeSpent | undefined;
  readonly money: MoneySpent;
  readonly habits: Habits;
}

/** Everything that is known of why a session took as long, and cost as much, as it did. Pure but for what it reads. */
export function explain(db: Database, view: SessionView, { agents }: Pick<SessionSource, "agents">): Explanation {
  const calls = placedCalls(view);
  // Of a packed session the open part is all of it
  const segments = view.isPacked ? [] : segmentsOf(db, view.stored.id);
  const settled = segments.reduce((sum, { totals }) => sum + (JSON.parse(totals) as Totals).compactions, 0);
  const compactions = settled + unsettledSession({ db, agents }, view.stored).compactions.length;
  return {
    view,
    time: timeSpent(view),
    money: moneySpent(view, calls),
    habits: habitsOf(db, view, calls, compactions),
  };
}
