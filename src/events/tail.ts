/** The end of one project's log: reads what is new once, however many follow it. */
import type { Database } from '../database/database.ts';
import {
  type EventFilter,
  type LoggedEvent,
  type LoggedItem,
  type LogRange,
  readEvents,
  readTopicIds,
} from './event-log.ts';
import type { Follower } from './follower.ts';
import { StreamItem } from './stream-item.ts';

/** Events that are read at once. */
export const TAIL_BATCH = 128;

/** The cursor by which a client resumes after an event. */
export type CursorOf = (event: LoggedEvent) => string;

export interface TailOptions {
  database: Database;
  projectId: string;
  /** Of the last event in the log. */
  position: bigint;
  cursorOf: CursorOf;
}

export class Tail {
  readonly projectId: string;
  readonly followers = new Set<Follower>();
  /** Everything up to here was handed to those who were live then. */
  position: bigint;
  readonly #database: Database;
  readonly #cursorOf: CursorOf;
  #isReading = false;
  #hasMore = false;

  constructor({ database, projectId, position, cursorOf }: TailOptions) {
    this.#database = database;
    this.#cursorOf = cursorOf;
    this.projectId = projectId;
    this.position = position;
  }

  add(follower: Follower): void {
    this.followers.add(follower);
  }

  remove(follower: Follower): void {
    this.followers.delete(follower);
  }

  /** Items of the log for one follower, which are not shared. */
  async read(range: Omit<LogRange, 'projectId'>, filter?: EventFilter): Promise<LoggedItem[]> {
    const { projectId } = this;
    const events = await readEvents(this.#database, { projectId, ...range }, filter);
    return events.map((event) => new StreamItem(event, this.#cursorOf(event)));
  }

  /** Reads to the end of the log; throws if the database doesn't answer. Calls at the same time share one read. */
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
    const items = await this.read({ above: this.position, limit: TAIL_BATCH });
    const last = items.at(-1);
    if (!last) return;
    if (items.length === TAIL_BATCH) this.#hasMore = true;
    const topicIds = await this.#topicIdsOf(items);
    for (const follower of this.followers) {
      const { topicId, eventTypes } = follower.filter;
      follower.offer(
        items,
        ({ id, eventType }) =>
          (topicId === undefined || topicIds.get(id)?.has(topicId) === true) &&
          (eventTypes === undefined || eventTypes.includes(eventType)),
      );
    }
    this.position = last.node.position;
  }

  /** Read only if a follower filters by topic. */
  async #topicIdsOf(items: LoggedItem[]): Promise<Map<string, Set<string>>> {
    const filters = [...this.followers].some(({ filter }) => filter.topicId !== undefined);
    const events = items.map(({ node }) => node);
    return filters ? readTopicIds(this.#database, this.projectId, events) : new Map();
  }
}
