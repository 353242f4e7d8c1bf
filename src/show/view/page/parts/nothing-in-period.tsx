import { hrefOf, type Route } from "../route.ts";

/** Shown instead of figures if the chosen period has none. */
export function NothingInPeriod({
  what,
  view,
  params = {},
}: {
  /** What is missing, e.g. `sessions`. */
  what: string;
  view: Route["view"];
  /** Parameters of the view with all time. @default none */
  params?: Route["params"];
}) {
  return (
    <section class="placeholder">
      <h2>{`No ${what} in this period`}</h2>
      <p>
        <a href={hrefOf(view, { ...params, range: "all" })}>Show all time</a>
      </p>
    </section>
  );
}
