/** A fair queue: each turn admits a few, and each name as often as any other. */
export interface WaitingLine {
  /** True at its turn; false if too many wait and its name has more of them than any other. */
  turn(name: string): Promise<boolean>;
}

type Go = (hasTurn: boolean) => void;

interface LineOptions {
  turnMs: number;
  /** How many are admitted in one turn. */
  turnMax: number;
  waitingMax: number;
}

export function createWaitingLine({ turnMs, turnMax, waitingMax }: LineOptions): WaitingLine {
  const byName = new Map<string, Go[]>();
  let waiting = 0;
  let hasNextTurn = false;

  /** The one of the name that has waited the longest. */
  const takeFrom = (name: string): Go => {
    const line = byName.get(name) as Go[];
    const go = line.shift() as Go;
    // The next of this name comes after all other names.
    byName.delete(name);
    if (line.length > 0) byName.set(name, line);
    waiting -= 1;
    return go;
  };

  const planNextTurn = () => {
    if (hasNextTurn || waiting === 0) return;
    hasNextTurn = true;
    setTimeout(nextTurn, turnMs);
  };

  const nextTurn = () => {
    for (let gone = 0; gone < turnMax && waiting > 0; gone += 1) {
      const [name] = byName.keys();
      takeFrom(name as string)(true);
    }
    hasNextTurn = false;
    planNextTurn();
  };

  return {
    turn(name) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const line = byName.get(name);
      if (line) line.push(resolve);
      else byName.set(name, [resolve]);
      waiting += 1;
      // The oldest of the name leaves, not the newest: in a flood, the newest has the better chance of a turn.
      if (waiting > waitingMax) takeFrom(longestOf(byName))(false);
      planNextTurn();
      return promise;
    },
  };
}

function longestOf(byName: Map<string, Go[]>): string {
  let [longest, most] = ['', 0];
  for (const [name, { length }] of byName) if (length > most) [longest, most] = [name, length];
  return longest;
}
