/** Limits how many rows of one kind of work a process runs at the same time, in total and for each group. */
import type { Capacity } from './leased-work.ts';

interface PlaceLimits {
  perProcess: number;
  perGroup: number;
}

export class Places {
  readonly #limits: PlaceLimits;
  readonly #takenByGroup = new Map<string, number>();
  #taken = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return Math.max(0, this.#limits.perProcess - this.#taken);
  }

  hasFree(group: string): boolean {
    return this.free > 0 && this.#countFree(group) > 0;
  }

  readCapacity(): Capacity {
    const freeByGroup = new Map(
      this.#takenByGroup.keys().map((group) => [group, this.#countFree(group)]),
    );
    return { free: this.free, freeByGroup };
  }

  take(group: string): void {
    this.#taken += 1;
    this.#takenByGroup.set(group, (this.#takenByGroup.get(group) ?? 0) + 1);
  }

  leave(group: string): void {
    this.#taken -= 1;
    const remaining = (this.#takenByGroup.get(group) ?? 1) - 1;
    if (remaining > 0) this.#takenByGroup.set(group, remaining);
    else this.#takenByGroup.delete(group);
  }

  #countFree(group: string): number {
    return Math.max(0, this.#limits.perGroup - (this.#takenByGroup.get(group) ?? 0));
  }
}
