import { urlOf } from "../data/api.ts";
import type { Params } from "../route.ts";
import { timeZone } from "../text/format.ts";

/** Links that save the figures of a view, with the same columns as the command `report`. */
export function Downloads({ query }: { query: Params & { readonly by: string } }) {
  const href = (format: "csv" | "json"): string => urlOf(`report.${format}`, { ...query, timeZone: timeZone() });
  return (
    <p class="downloads">
      <a href={href("csv")} download>
        Download CSV
      </a>
      <a href={href("json")} download>
        JSON
      </a>
    </p>
  );
}
