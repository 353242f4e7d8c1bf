export interface PlantedFault {
  readonly what: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Folders of the tests that run with it. */
  readonly rooms: readonly string[];
}
export const FAULTS: readonly PlantedFault[];
