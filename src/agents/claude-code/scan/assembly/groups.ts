// Rows of sums, one for each quarter of an hour, kind of run and name.
import { Table, take } from "./tables";

/** `QUARTER_MS` of `src/model/packed.ts`. */
const QUARTER_MS: f64 = 900_000;

/** Rows of numbers of eight bytes: the quarter's beginning, the name's number, then what is added up, from 0. */
export class Groups {
  private table: Table;
  private keys: Table = new Table(8);
  private slots: usize = 0;
  private slotCount: i32 = 0;

  constructor(private numbers: i32) {
    this.table = new Table(numbers * 8);
  }

  get rows(): i32 {
    return this.table.rows;
  }

  get at(): usize {
    return this.table.at;
  }

  row(n: i32): usize {
    return this.table.row(n);
  }

  clear(): void {
    this.table.rows = this.keys.rows = 0;
    if (this.slotCount === 0) this.takeSlots(256);
    memory.fill(this.slots, 0, this.slotCount * 4);
  }

  /** The number of a row; the next one where there was none. */
  place(timeMs: f64, isSubagents: i32, name: i32): i32 {
    const quarter = Math.floor(timeMs / QUARTER_MS);
    const key = (((<i64>quarter) * 2 + isSubagents) << 28) + name + 1;
    // Most come one after the other
    const last = this.keys.rows - 1;
    if (last >= 0 && load<i64>(this.keys.row(last)) === key) return last;
    let slot = this.slotOf(key);
    while (true) {
      const known = load<i32>(this.slots + slot * 4) - 1;
      if (known < 0) break;
      if (load<i64>(this.keys.row(known)) === key) return known;
      slot = (slot + 1) & (this.slotCount - 1);
    }
    store<i64>(this.keys.add(), key);
    const row = this.table.add();
    memory.fill(row, 0, this.numbers * 8);
    store<f64>(row, quarter * QUARTER_MS);
    store<f64>(row, name, 8);
    store<i32>(this.slots + slot * 4, this.keys.rows);
    if (this.keys.rows * 2 > this.slotCount) this.grow();
    return this.keys.rows - 1;
  }

  private grow(): void {
    this.takeSlots(this.slotCount * 2);
    memory.fill(this.slots, 0, this.slotCount * 4);
    for (let n = 0; n < this.keys.rows; n++) {
      let slot = this.slotOf(load<i64>(this.keys.row(n)));
      while (load<i32>(this.slots + slot * 4) !== 0) slot = (slot + 1) & (this.slotCount - 1);
      store<i32>(this.slots + slot * 4, n + 1);
    }
  }

  private takeSlots(count: i32): void {
    this.slotCount = count;
    this.slots = take(count * 4);
  }

  private slotOf(key: i64): i32 {
    return <i32>((<u64>key * 0x9e3779b97f4a7c15) >>> 32) & (this.slotCount - 1);
  }
}
