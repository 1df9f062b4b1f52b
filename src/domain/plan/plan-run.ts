/** Applies the changes of a plan in one transaction, with the functions that the resources declare. */
import type { ItemChange, ItemChanges, PlanTransaction } from '../access/item-change.ts';
import { destinationChanges } from '../events/document/destination-document.ts';
import {
  eventTopicRouteChanges,
  topicChanges,
  topicDestinationRouteChanges,
} from '../events/document/topic-document.ts';
import { customProviderChanges } from '../integrations/custom-provider/custom-provider-document.ts';
import { integrationChanges } from '../integrations/integration/integration-document.ts';
import { changeProject, PROJECT_NEEDS } from '../tenants/project/appearance-document.ts';
import { jwtKeyChanges } from '../tenants/project/jwt-key-document.ts';
import type { ItemKind } from './items.ts';
import type { PlanChange } from './plan-changes.ts';

/** Items with rows of their own. Each kind refers only to kinds above it. */
const CHANGES_BY_KIND = {
  JWT_KEY: jwtKeyChanges,
  CUSTOM_PROVIDER: customProviderChanges,
  DESTINATION: destinationChanges,
  TOPIC: topicChanges,
  EVENT_TOPIC_ROUTE: eventTopicRouteChanges,
  TOPIC_DESTINATION_ROUTE: topicDestinationRouteChanges,
  INTEGRATION: integrationChanges,
} satisfies Partial<Record<ItemKind, ItemChanges>>;

/** The need of each change: the need of the mutation with the same effect. */
export const NEEDS_BY_KIND: Record<ItemKind, ItemChanges['needs']> = {
  APPEARANCE: PROJECT_NEEDS,
  ALLOWED_ORIGIN: PROJECT_NEEDS,
  JWT_KEY: jwtKeyChanges.needs,
  CUSTOM_PROVIDER: customProviderChanges.needs,
  DESTINATION: destinationChanges.needs,
  TOPIC: topicChanges.needs,
  EVENT_TOPIC_ROUTE: eventTopicRouteChanges.needs,
  TOPIC_DESTINATION_ROUTE: topicDestinationRouteChanges.needs,
  INTEGRATION: integrationChanges.needs,
};

/** Applies all changes. Items are created before the items that refer to them, and deleted after them. */
export async function applyChanges(
  plan: PlanTransaction,
  changes: readonly PlanChange[],
): Promise<void> {
  const listOfKind = (kind: ItemKind) => changes.filter((change) => change.kind === kind);
  await changeProject(plan, {
    appearance: listOfKind('APPEARANCE'),
    origins: listOfKind('ALLOWED_ORIGIN'),
  });
  const kinds = Object.entries(CHANGES_BY_KIND) as [ItemKind, ItemChanges][];
  for (const [kind, { put }] of kinds) {
    for (const change of listOfKind(kind)) if (isPut(change)) await put(plan, change);
  }
  for (const [kind, { remove }] of kinds.toReversed()) {
    for (const change of listOfKind(kind)) if (isRemoval(change)) await remove(plan, change);
  }
}

type NonNull<M extends 'before' | 'after'> = ItemChange & {
  [K in M]: NonNullable<ItemChange[K]>;
};

function isPut(change: ItemChange): change is NonNull<'after'> {
  return change.after !== null;
}

function isRemoval(change: ItemChange): change is NonNull<'before'> {
  return change.after === null;
}
