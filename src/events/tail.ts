/** The end of one project's log: reads what is new once, however many follow it. */
import type { Database } from '../database/database.ts';
import type { Follower } from './follower.ts';
import { type LoggedEvent, readEvents, readTopicIds } from './log.ts';

/** Events that are read at once. */
export const TAIL_BATCH = 128;

export class Tail {
  readonly projectId: string;
  readonly followers = new Set<Follower>();
  /** Everything up to here was handed to those who were live then. */
  position: bigint;
  readonly #database: Database;
  #isReading = false;
  #hasMore = false;

  constructor(database: Database, projectId: string, position: bigint) {
    this.#database = database;
    this.projectId = projectId;
    this.position = position;
  }

  add(follower: Follower): void {
    this.followers.add(follower);
  }

  remove(follower: Follower): void {
    this.followers.delete(follower);
  }

  /** Reads to the end of the log; throws where the database doesn't answer. One reads, the others leave it to that one. */
  async advance(): Promise<void> {
    this.#hasMore = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#hasMore && this.followers.size > 0) {
        this.#hasMore = false;
        await this.#readBatch();
      }
    } finally {
      this.#isReading = false;
    }
  }

  async #readBatch(): Promise<void> {
    const range = { projectId: this.projectId, above: this.position, limit: TAIL_BATCH };
    const events = await readEvents(this.#database, range);
    const last = events.at(-1);
    if (!last) return;
    if (events.length === TAIL_BATCH) this.#hasMore = true;
    const topicIds = await this.#topicIdsOf(events);
    for (const follower of this.followers) {
      const { topicId, eventTypes } = follower.filter;
      follower.offer(
        events,
        ({ id, eventType }) =>
          (topicId === undefined || topicIds.get(id)?.has(topicId) === true) &&
          (eventTypes === undefined || eventTypes.includes(eventType)),
      );
    }
    this.position = last.position;
  }

  /** Only asked for where somebody filters by them. */
  async #topicIdsOf(events: LoggedEvent[]): Promise<Map<string, Set<string>>> {
    const filters = [...this.followers].some(({ filter }) => filter.topicId !== undefined);
    return filters ? readTopicIds(this.#database, this.projectId, events) : new Map();
  }
}
