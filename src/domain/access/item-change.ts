/** How a plan changes the items of a project document. Each resource declares how its items change. */
import type { Transaction } from '../../database/transactions/transaction.ts';
import type { ProviderDocument } from '../../providers/document/provider-document.ts';
import type { CanonicalItem } from '../base/canonical.ts';
import type { ProjectCall } from './call.ts';
import type { Need } from './viewer/needs.ts';

export interface ItemChange {
  /** Identifies the item in its project, like `destinations.records`. */
  path: string;
  /** The item in the project, in canonical form. Null for a new item. */
  before: CanonicalItem | null;
  /** The item after the change, in canonical form. Null for a deletion. */
  after: CanonicalItem | null;
}

/** The transaction that applies a plan. */
export interface PlanTransaction {
  call: ProjectCall;
  tx: Transaction;
  projectId: string;
  /** Whether the plan may pause reads of objects that it drops. */
  allowDeletions: boolean;
  /** Values that no document contains, by paths like `destinations.records.url`. */
  secrets: ReadonlyMap<string, string>;
  /** The parsed documents of new and changed custom providers, by the paths of their items. */
  providerDocuments: ReadonlyMap<string, ProviderDocument>;
  /** Ids of the project's rows by the paths of their items. A change that creates a row adds its id. */
  ids: Map<string, string>;
  /** Work to do after the commit. If the process ends first, workers do it. */
  afterCommit: (() => Promise<unknown>)[];
  /** Functions that record events. They run last in the transaction. */
  recordEvents: (() => Promise<void>)[];
}

/** The changes of items of one kind. */
export interface ItemChanges {
  /** The needs of the mutations with the same effects. */
  needs: Record<'CREATE' | 'UPDATE' | 'DELETE', Need>;
  /** Creates or updates the item. */
  put(plan: PlanTransaction, change: ItemChange & { after: CanonicalItem }): Promise<void>;
  remove(plan: PlanTransaction, change: ItemChange & { before: CanonicalItem }): Promise<void>;
}

/** Returns the needs of the mutations that create, update and delete an item. */
export function listNeeds(...[create, update, remove]: [WithNeeds, WithNeeds, WithNeeds]) {
  return { CREATE: create.needs, UPDATE: update.needs, DELETE: remove.needs };
}

interface WithNeeds {
  needs: Need;
}

/** Returns the id of a row by the path of its item. */
export function getRowId({ ids }: Pick<PlanTransaction, 'ids'>, path: string): string {
  const id = ids.get(path);
  if (id === undefined) throw new Error(`Bug: a plan refers to ${path}, which has no row.`);
  return id;
}
