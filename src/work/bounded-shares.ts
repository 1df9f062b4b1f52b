/**
 * A bounded resource that many holders share, such as the requests or sockets of a process. Each level (a caller, a
 * project, a connection) has a maximum of its own. A holder never gets more than is left for others: it is refused as
 * soon as it holds as much as is free. A part of the resource is reserved for holders that have next to nothing, so
 * that several greedy ones together can't take all of it.
 */

/** The part that is reserved, and the most that a holder may have of it. */
const RESERVED_PART = 1 / 5;
const LITTLE_PART = 1 / 100;

/** The levels of a holder. A level that is absent is not bounded for it. */
export type Level = 'caller' | 'project' | 'connection';
export type Holder = { readonly [L in Level]?: string };

export interface ShareLimits {
  /** The maximum of all holders together. */
  process: number;
  levels: readonly { level: Level; max: number }[];
}

/** What is used up: the whole resource, or the share of one level. */
export type UsedUp = 'process' | Level;

export class BoundedShares {
  readonly max: number;
  readonly #reserved: number;
  readonly #little: number;
  readonly #levels: { level: Level; max: number; held: Map<string, number> }[];
  #held = 0;

  constructor({ process, levels }: ShareLimits) {
    this.max = process;
    this.#reserved = Math.floor(process * RESERVED_PART);
    this.#little = Math.max(1, Math.floor(process * LITTLE_PART));
    this.#levels = levels.map((one) => ({ ...one, held: new Map() }));
  }

  get held(): number {
    return this.#held;
  }

  /** How many holders of a level hold something. */
  holders(level: Level): number {
    return this.#heldAt(level)?.size ?? 0;
  }

  heldBy(level: Level, name: string): number {
    return this.#heldAt(level)?.get(name) ?? 0;
  }

  /** How much the largest holder of each bounded level holds. */
  largest(): { level: Level; held: number }[] {
    return this.#levels.map(({ level, held }) => ({
      level,
      held: held.values().reduce((most, one) => Math.max(most, one), 0),
    }));
  }

  /** Takes one, or takes nothing and returns why. */
  take(holder: Holder): UsedUp | null {
    const free = this.max - this.#held;
    if (free <= 0) return 'process';
    for (const { level, max, held } of this.#levels) {
      const name = holder[level];
      if (name === undefined) continue;
      const most = Math.min(max, Math.max(this.#little, free - this.#reserved));
      if ((held.get(name) ?? 0) >= most) return level;
    }
    this.add(holder);
    return null;
  }

  /** Takes one beyond every maximum, for work that has begun and must not be refused. */
  add(holder: Holder): void {
    this.#held += 1;
    for (const { level, held } of this.#levels) {
      const name = holder[level];
      if (name !== undefined) held.set(name, (held.get(name) ?? 0) + 1);
    }
  }

  /** Gives one back. Must be called once for each `take` that succeeded and each `add`, with the same names. */
  give(holder: Holder): void {
    this.#held -= 1;
    for (const { level, held } of this.#levels) {
      const name = holder[level];
      if (name === undefined) continue;
      const left = (held.get(name) ?? 0) - 1;
      if (left > 0) held.set(name, left);
      else held.delete(name);
    }
  }

  #heldAt(level: Level): Map<string, number> | undefined {
    return this.#levels.find((one) => one.level === level)?.held;
  }
}
