import type { HomeDocument } from "../../wire/documents.ts";
import { bucketName, dollars } from "../text/format.ts";

/** Cost over time, as small bars. Hidden from screen readers, because Usage has the same figures as a table. */
export function CostBars({ home: { buckets, costUsd, unit }, period }: { home: HomeDocument; period: string }) {
  const largest = Math.max(0, ...costUsd.map((cost) => cost ?? 0));
  if (largest === 0 || buckets.length < 2) return null;
  return (
    <figure class="cost-bars">
      <figcaption>
        <span class="title">
          Cost per {unit}, {period.charAt(0).toLowerCase() + period.slice(1)}
        </span>
        <span class="muted">up to {dollars(largest)}, at list prices</span>
      </figcaption>
      <div class="bars" aria-hidden="true">
        {buckets.map((bucket, i) => {
          const cost = costUsd[i] ?? null;
          return (
            <span key={bucket} title={`${bucketName(bucket)}: ${cost === null ? "no known cost" : dollars(cost)}`}>
              <span class={cost ? "" : "none"} style={{ height: `${((cost ?? 0) / largest) * 100}%` }} />
            </span>
          );
        })}
      </div>
      <p class="ends muted" aria-hidden="true">
        <span>{bucketName(buckets[0] ?? "")}</span>
        <span>{bucketName(buckets.at(-1) ?? "")}</span>
      </p>
    </figure>
  );
}
