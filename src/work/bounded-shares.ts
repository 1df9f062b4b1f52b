/** The reserved part of the resource, and the most that a holder may have of it. */
const RESERVED_PART = 1 / 5;
const SMALL_USE_PART = 1 / 100;

/** The levels of a holder. A level that is absent is not bounded for it. */
export type ShareLevel = 'caller' | 'project' | 'connection';
export type Holder = { readonly [L in ShareLevel]?: string };

interface ShareLimits {
  /** The maximum of all holders together. */
  process: number;
  levels: readonly { level: ShareLevel; max: number }[];
}

/** The limit that is used up: the whole resource, or the share of one level. */
export type ExhaustedLimit = 'process' | ShareLevel;

/**
 * A bounded resource that many holders share, such as the requests or sockets of a process. Each level (a caller, a
 * project, a connection) has its own maximum. A holder never gets more than is left for others: it is refused when it
 * holds as much as is free. A part of the resource is reserved for holders with little use, so that several large
 * holders together can't use all of it.
 */
export class BoundedShares {
  readonly max: number;
  readonly #reserved: number;
  readonly #smallUse: number;
  readonly #levels: { level: ShareLevel; max: number; held: Map<string, number> }[];
  #held = 0;

  constructor({ process, levels }: ShareLimits) {
    this.max = process;
    this.#reserved = Math.floor(process * RESERVED_PART);
    this.#smallUse = Math.max(1, Math.floor(process * SMALL_USE_PART));
    this.#levels = levels.map((level) => ({ ...level, held: new Map() }));
  }

  get held(): number {
    return this.#held;
  }

  /** Number of holders of a level that hold at least one unit. */
  holders(level: ShareLevel): number {
    return this.#heldAt(level)?.size ?? 0;
  }

  heldBy(level: ShareLevel, name: string): number {
    return this.#heldAt(level)?.get(name) ?? 0;
  }

  /** The units that the largest holder of each bounded level holds. */
  largest(): { level: ShareLevel; held: number }[] {
    return this.#levels.map(({ level, held }) => ({
      level,
      held: held.values().reduce((shareMax, units) => Math.max(shareMax, units), 0),
    }));
  }

  /** Takes one unit. If that is not possible, takes nothing and returns the level that is used up. */
  take(holder: Holder): ExhaustedLimit | null {
    const free = this.max - this.#held;
    if (free <= 0) return 'process';
    for (const { level, max, held } of this.#levels) {
      const name = holder[level];
      if (name === undefined) continue;
      const shareMax = Math.min(max, Math.max(this.#smallUse, free - this.#reserved));
      if ((held.get(name) ?? 0) >= shareMax) return level;
    }
    this.add(holder);
    return null;
  }

  /** Takes one unit beyond every maximum, for work that has begun and must not be refused. */
  add(holder: Holder): void {
    this.#held += 1;
    for (const { level, held } of this.#levels) {
      const name = holder[level];
      if (name !== undefined) held.set(name, (held.get(name) ?? 0) + 1);
    }
  }

  /** Releases one unit. Call it once for each successful `take` and each `add`, with the same names. */
  release(holder: Holder): void {
    this.#held -= 1;
    for (const { level, held } of this.#levels) {
      const name = holder[level];
      if (name === undefined) continue;
      const remaining = (held.get(name) ?? 0) - 1;
      if (remaining > 0) held.set(name, remaining);
      else held.delete(name);
    }
  }

  #heldAt(level: ShareLevel): Map<string, number> | undefined {
    return this.#levels.find((bounds) => bounds.level === level)?.held;
  }
}
