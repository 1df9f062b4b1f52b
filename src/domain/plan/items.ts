/** The items of a project document. A plan creates, updates or deletes them by their paths. */
import { hash } from 'node:crypto';
import type { z } from 'zod';
import { enumeration } from '../base/resource.ts';
import { splitTopic } from '../events/document/topic-document.ts';
import { createFingerprint } from '../tenants/project/jwt-key-document.ts';
import type { CanonicalDocument } from './project-document.ts';

export const itemKind = enumeration('ItemKind', 'A kind of item of a project document.', {
  APPEARANCE:
    'A value of the appearance: the name of the app, or the logo, color or language of the connect page.',
  ALLOWED_ORIGIN: 'An origin whose pages may call the gateway.',
  JWT_KEY: "A public key that verifies end users' tokens.",
  CUSTOM_PROVIDER: 'A custom provider with its document.',
  DESTINATION: 'A destination.',
  TOPIC: 'A topic.',
  EVENT_TOPIC_ROUTE: 'A route of events of one type to a topic.',
  TOPIC_DESTINATION_ROUTE: 'A route of a topic to a destination.',
  INTEGRATION: 'An integration with its content.',
});
export type ItemKind = z.output<typeof itemKind>;

export interface Item {
  kind: ItemKind;
  /** Identifies the item in its project, like `destinations.records`. */
  path: string;
  value: Record<string, unknown>;
}

/** Returns the items of a document by path. Provider apps are not items, because a document only refers to them. */
export function listItems(document: CanonicalDocument): Map<string, Item> {
  const items: Item[] = [];
  const add = (kind: ItemKind, path: string, value: object) =>
    items.push({ kind, path, value: value as Item['value'] });
  for (const [name, value] of Object.entries(document.appearance ?? {})) {
    add('APPEARANCE', `appearance.${name}`, { [name]: value });
  }
  for (const origin of document.allowedOrigins ?? []) {
    add('ALLOWED_ORIGIN', `allowedOrigins.${origin}`, { origin });
  }
  for (const key of document.jwtKeys ?? []) {
    add('JWT_KEY', `jwtKeys.${createFingerprint(key)}`, key);
  }
  for (const provider of document.customProviders ?? []) {
    add('CUSTOM_PROVIDER', `customProviders.${provider.name}`, provider);
  }
  for (const destination of document.destinations ?? []) {
    add('DESTINATION', `destinations.${destination.name}`, destination);
  }
  for (const item of document.topics ?? []) {
    const path = `topics.${item.name}`;
    const { topic, eventRoutes, destinationRoutes } = splitTopic(item);
    add('TOPIC', path, topic);
    for (const route of eventRoutes) {
      add('EVENT_TOPIC_ROUTE', `${path}.eventTypes.${route.eventType}`, route);
    }
    for (const route of destinationRoutes) {
      add('TOPIC_DESTINATION_ROUTE', `${path}.destinations.${route.destination}`, route);
    }
  }
  for (const integration of document.integrations ?? []) {
    add('INTEGRATION', `integrations.${integration.name}`, integration);
  }
  return new Map(items.map((item) => [item.path, item]));
}

/** The section of a document that contains the items of each kind. */
export const SECTION_BY_KIND = {
  APPEARANCE: 'appearance',
  ALLOWED_ORIGIN: 'allowedOrigins',
  JWT_KEY: 'jwtKeys',
  CUSTOM_PROVIDER: 'customProviders',
  DESTINATION: 'destinations',
  TOPIC: 'topics',
  EVENT_TOPIC_ROUTE: 'topics',
  TOPIC_DESTINATION_ROUTE: 'topics',
  INTEGRATION: 'integrations',
} as const satisfies Record<ItemKind, keyof CanonicalDocument>;

/** The path of the only item that every project has, and that no plan deletes. */
export const APP_NAME_PATH = 'appearance.appName';

/** Returns the SHA-256 of a value's JSON in hexadecimal. */
export function hashValue(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex');
}

/** Formats the first paths of a list, followed by the number of other paths: `topics.a, topics.b and 3 more`. */
export function formatPaths(paths: readonly string[], countMax: number): string {
  const excess = paths.length - countMax;
  const listedPaths = paths.slice(0, countMax).join(', ');
  return excess > 0 ? `${listedPaths} and ${excess} more` : listedPaths;
}
