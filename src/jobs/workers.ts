/** The loops of this process, in which work can start that the process stores itself. */

import type { ShardGroup } from '../database/statements/projects/shard-groups.ts';
import { WORK_CHANNEL } from '../database/transactions/notification-channels.ts';
import type { Notify } from '../database/transactions/notifications.ts';
import type { FreeSlot, LeasedLoop } from './leased-loop.ts';
import type { LeasedWork, WorkServices } from './leased-work.ts';

interface RegisteredLoop {
  kind: string;
  shardGroup: ShardGroup;
  loop: Pick<LeasedLoop<object, WorkServices>, 'running' | 'takeSlot'>;
}

export class Workers {
  readonly #loops = new Set<RegisteredLoop>();

  /** Registers a loop until the result is disposed of. */
  add<R extends object, S extends WorkServices>(
    { kind }: LeasedWork<R, S>,
    shardGroup: ShardGroup,
    loop: LeasedLoop<R, S>,
  ): Disposable {
    const registered = { kind, shardGroup, loop };
    this.#loops.add(registered);
    return { [Symbol.dispose]: () => this.#loops.delete(registered) };
  }

  /**
   * Takes a slot of this process for a row that it is about to store. Null if the process does not run such work, or
   * has no free slot: the row is then stored without a lease, and `notifyWork` wakes other processes.
   */
  takeSlot<R extends object, S extends WorkServices>(
    { kind }: LeasedWork<R, S>,
    { projectId, share }: { projectId: string; share: string },
  ): FreeSlot<R, S> | null {
    for (const { kind: loopKind, shardGroup, loop } of this.#loops) {
      if (loopKind !== kind || !(shardGroup.projectIds()?.includes(projectId) ?? true)) continue;
      return loop.takeSlot(share) as FreeSlot<R, S> | null;
    }
    return null;
  }

  /** Returns the number of rows that this process runs, by kind. */
  countRunning(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { kind, loop } of this.#loops)
      counts.set(kind, (counts.get(kind) ?? 0) + loop.running);
    return counts;
  }
}

/** Wakes the workers of all processes, outside of a transaction. */
export function notifyWorkers({ notify }: { notify: Notify }, { kind }: { kind: string }): void {
  notify([`${WORK_CHANNEL} ${kind}`]);
}
