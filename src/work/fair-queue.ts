/**
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996) on two levels: projects take turns, and within a project its
 * callers do. A turn is as long as the weight of the work, so a caller of heavy work gets fewer turns. Work begins in
 * the order of its start tags: the later of the queue's virtual time and the end of the caller's previous work. A
 * caller that was idle therefore comes next, regardless of what others have queued.
 */

export interface QueuedWork {
  readonly project: string;
  readonly caller: string;
  /** At least 1. Work that is twice as heavy counts as two turns. */
  readonly weight: number;
}

const acceptAll = () => true;

/** The number of parties above which idle ones are removed. */
const NAMES_MAX = 1_000;

/** A project, or a caller of a project. */
class Party<T> {
  /** The end of the party's last work, in virtual time. */
  finish = 0;
  /** Start tags of waiting work. Entries of callers also have the work. */
  readonly waiting: { start: number; work?: T }[] = [];
}

class FairLevel<T, P extends Party<T>> {
  readonly parties = new Map<string, P>();
  readonly #create: () => P;
  virtualTime = 0;
  #partiesMax = NAMES_MAX;

  constructor(create: () => P) {
    this.#create = create;
  }

  getParty(name: string): P {
    const existing = this.parties.get(name);
    if (existing) return existing;
    if (this.parties.size >= this.#partiesMax) this.#removeIdle();
    const party = this.#create();
    this.parties.set(name, party);
    return party;
  }

  /** Returns the start tag of work that arrives now. */
  stamp(party: P, weight: number): number {
    const start = Math.max(this.virtualTime, party.finish);
    party.finish = start + weight;
    return start;
  }

  /** Returns the party with the earliest start tag, among those with waiting work that `isReady` accepts. */
  findNext(isReady: (party: P) => boolean): P | null {
    let earliest: P | null = null;
    let start = Number.POSITIVE_INFINITY;
    for (const party of this.parties.values()) {
      const [first] = party.waiting;
      if (first && first.start < start && isReady(party)) [earliest, start] = [party, first.start];
    }
    return earliest;
  }

  /**
   * Removes parties without waiting work. While other parties have any, it keeps those whose next start tag is after
   * the virtual time. The next removal happens at twice the remaining number, so that its cost stays small.
   */
  #removeIdle(): void {
    const isBusy = this.parties.values().some(({ waiting }) => waiting.length > 0);
    for (const [name, { finish, waiting }] of this.parties) {
      const isIdle = waiting.length === 0 && (!isBusy || finish <= this.virtualTime);
      if (isIdle) this.parties.delete(name);
    }
    this.#partiesMax = Math.max(NAMES_MAX, 2 * this.parties.size);
  }
}

class ProjectParty<T> extends Party<T> {
  readonly callers = new FairLevel<T, Party<T>>(() => new Party<T>());
}

export class FairQueue<T extends QueuedWork> {
  readonly #projects = new FairLevel<T, ProjectParty<T>>(() => new ProjectParty<T>());
  #size = 0;

  /** The number of waiting entries. */
  get size(): number {
    return this.#size;
  }

  /** The number of stored projects. */
  get projectCount(): number {
    return this.#projects.parties.size;
  }

  /** Counts work that starts without waiting. */
  countStarted({ project: name, caller, weight }: T): void {
    const projects = this.#projects;
    const project = projects.getParty(name);
    projects.virtualTime = projects.stamp(project, weight);
    const { callers } = project;
    callers.virtualTime = callers.stamp(callers.getParty(caller), weight);
  }

  push(work: T): void {
    const { project: name, caller, weight } = work;
    const project = this.#projects.getParty(name);
    project.waiting.push({ start: this.#projects.stamp(project, weight) });
    const party = project.callers.getParty(caller);
    party.waiting.push({ start: project.callers.stamp(party, weight), work });
    this.#size += 1;
  }

  /** Removes and returns the work whose turn it is, among callers whose next work `mayBegin` accepts. */
  shift(mayBegin: (work: T) => boolean = acceptAll): T | undefined {
    const isReady = ({ waiting: [first] }: Party<T>) => !!first?.work && mayBegin(first.work);
    const project = this.#projects.findNext(({ callers }) => callers.findNext(isReady) !== null);
    const first = project?.callers.findNext(isReady)?.waiting.shift();
    if (!project || !first) return undefined;
    project.callers.virtualTime = first.start;
    this.#projects.virtualTime = project.waiting.shift()?.start ?? this.#projects.virtualTime;
    this.#size -= 1;
    return first.work;
  }

  /** Removes waiting work. Its turn is lost, so that a caller can't improve its position by leaving and returning. */
  remove(work: T): void {
    const project = this.#projects.getParty(work.project);
    const { waiting } = project.callers.getParty(work.caller);
    const index = waiting.findIndex((entry) => entry.work === work);
    if (index < 0) return;
    waiting.splice(index, 1);
    project.waiting.pop();
    this.#size -= 1;
  }
}
